"""Collects the training settings of a run, which a resumed run must keep.

These are its flags, its network, its tokenizer, and fingerprints of the
checkpoints that it starts from. The plan of a run adds its input files.
"""

import json
import os

from files.json_files import parse_json
from model_folders.head_settings import HeadSettings
from model_folders.model_json import MODEL_JSON_FILE
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset, read_preset
from model_folders.reading.weights_paths import folder_of
from model_folders.training_settings import TrainingInputs, TrainingSettings
from training.config.training_config import TrainingConfig
from training.run_files.input_fingerprints import fingerprint_checkpoint
from training.starting_point import StartingPoint


def create_training_settings(
    starting_point: StartingPoint[TrainingConfig],
    head: HeadSettings,
    data_inputs: TrainingInputs,
) -> TrainingSettings:
    """Returns the training settings of a command, as model.json records them.

    For example, {"input_file": [...], "flags": {"learning_rate": 5e-05, ...}}
    in pretraining. A resumed run keeps recorded settings that this command does
    not know.

    Args:
        starting_point: what the command trains from.
        head: the head settings that the task has fixed, {} without a task.
        data_inputs: the data, to which this function adds all other inputs.
            Tuples become lists.

    Raises:
        ValueError: the initial weights are of a network that is not a BERT.
        OSError: a checkpoint of the flags cannot be read.
    """
    inputs = fingerprint_starting_point(starting_point) | data_inputs
    inputs["flags"] = starting_point.config.to_flags_entry()
    entry = TrainingSettings(head, inputs).to_entry()
    in_json = parse_json(
        json.dumps(entry), MODEL_JSON_FILE, may_be_infinite=True
    )
    current = TrainingSettings.from_entry(in_json)
    if run_preset := starting_point.run_preset:
        recorded = run_preset.training_settings
        return TrainingSettings(
            head={**recorded.head, **current.head},
            inputs={**recorded.inputs, **current.inputs},
        )
    return current


def fingerprint_starting_point(
    starting_point: StartingPoint[TrainingConfig],
) -> TrainingInputs:
    """Identifies the network, the tokenizer and the checkpoints of a training.

    Returns JSON-serializable {name: value}, which a resumed run must repeat.
    """
    config = starting_point.config
    teacher = config.distillation.teacher
    inputs: TrainingInputs = {
        "bert_config": starting_point.bert_config.to_dict(),
        "left_to_right": config.network_arguments["left_to_right"],
        "bilstm": config.network_arguments["bilstm"],
        "teacher": fingerprint_checkpoint(teacher) if teacher else None,
    }
    if teacher:
        inputs["teacher_network"] = _fingerprint_network(
            read_preset(teacher, "--teacher")
        )
    if starting_point.tokenizer:
        inputs["tokenizer"] = starting_point.tokenizer.identity
    return inputs | _fingerprint_init_checkpoint(starting_point)


def _fingerprint_init_checkpoint(
    starting_point: StartingPoint[TrainingConfig],
) -> TrainingInputs:
    """Identifies the weights that --init_checkpoint names.

    Returns {} if the flag does not say how the run began: the flag is missing
    in a command on a run, or names the folder of the run itself.
    """
    checkpoint = starting_point.config.model.init_checkpoint
    if not checkpoint:
        return {} if starting_point.is_own_run else {"init_checkpoint": None}
    output_dir = os.path.realpath(starting_point.config.training.output_dir)
    if os.path.realpath(folder_of(checkpoint)) == output_dir:
        return {}
    # If the command is on a run, the folder is --output_dir.
    preset = None if starting_point.is_own_run else starting_point.preset
    preset = preset or read_preset(checkpoint, "--init_checkpoint")
    return {
        "init_checkpoint": fingerprint_checkpoint(preset),
        "init_checkpoint_network": _fingerprint_network(preset),
    }


def _fingerprint_network(preset: Preset) -> dict[str, object]:
    """Returns the settings that give the weights in a folder their meaning.

    Equal weights with another number of heads, another activation or labels in
    another order are another model. A value is None if no file states it.
    """
    bert_config = preset.load_config()
    return {
        **{
            name: getattr(bert_config, name, None)
            for name in settings_check.ENTRIES_NOT_IN_SHAPES
        },
        **preset.network_arguments,
        "labels": preset.labels,
    }
