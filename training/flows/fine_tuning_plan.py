"""Plans a command of fine-tuning: its steps, and what model.json records."""

import functools
import glob
import os

from data.sets.set_names import SetName, file_stem_of, is_base_set
from model_folders.model_json_types import TrainingSettings
from training.config.fine_tuning_config import FineTuningConfig
from training.config.training_config import NumSteps
from training.dev_set.recorded_sets import (
    DEV_SET_RULE,
    RECORDED_SETS,
    RecordedSet,
    RecordedSets,
)
from training.dev_set.rules import find_rule_to_record
from training.dev_set.set_checks import check_train_set
from training.flows.trainer_setup import RunPlan
from training.preparation import resuming
from training.preparation.starting_point import StartingPoint
from training.run_files import fingerprints
from training.task import AnyEncodedSets, AnyTask


def fingerprint_sets(
    config: FineTuningConfig, encoded_sets: AnyEncodedSets
) -> dict[str, RecordedSet]:
    """Identifies the sets of a command, for model.json and the card.

    If a set is one file, which a flag names or which is alone in --data_dir,
    this function reads the file for its checksum. Otherwise the checksum is
    that of the records.

    Returns:
        {name in model.json: RecordedSet}.
    """
    recorded_sets = {}
    for set_name, encoded_set in encoded_sets.items():
        recorded_name = file_stem_of(set_name)
        if file := _find_only_file(config, set_name):
            name = os.path.basename(file)
            _, checksum = fingerprints.size_and_checksum(file)
        else:
            data = config.fine_tuning.data_dir or recorded_name
            name = f"{os.path.basename(os.path.normpath(data))}/{recorded_name}"
            checksum = encoded_set.checksum
        recorded_sets[recorded_name] = RecordedSet(
            recorded_name, name, encoded_set.num_examples, checksum
        )
    return recorded_sets


def _find_only_file(config: FineTuningConfig, set_name: SetName) -> str | None:
    """Returns the file of a set, None if the set has several or none."""
    files = config.files_of(set_name)
    if not files and config.fine_tuning.data_dir and is_base_set(set_name):
        folder = glob.escape(config.fine_tuning.data_dir)
        files = glob.glob(os.path.join(folder, f"{set_name}[.]*"))
    is_only_file = len(files) == 1 and os.path.isfile(files[0])
    return files[0] if is_only_file else None


def collect_settings(
    task: AnyTask, encoded_sets: AnyEncodedSets, recorded_sets: RecordedSets
) -> TrainingSettings | None:
    """Collects the settings of the training, for model.json.

    Reads the records of the train set and the checkpoints of the flags, for
    their checksums.

    Args:
        task: the task, with its settings.
        encoded_sets: the sets, whose train set is read for a checksum.
        recorded_sets: the same sets, as model.json records them.

    Returns:
        the settings besides the flags, None without training.

    Raises:
        ValueError: the folder of the initial weights states a rule of its dev
            set that is incomplete, or a network that is not a BERT.
        OSError: a file cannot be read.
    """
    if "train" not in encoded_sets:
        return None
    start = task.start
    settings: TrainingSettings = {
        **fingerprints.fingerprint_start(start),
        **task.settings,
        RECORDED_SETS: [*recorded_sets.values()],
    }
    if rule := find_rule_to_record(start.dev_set_rule, start.preset):
        settings[DEV_SET_RULE] = rule.to_entry()
    settings["train_records"] = fingerprints.fingerprint_files(
        encoded_sets["train"].records.files
    )
    return settings


def create_fine_tuning_plan(
    task: AnyTask,
    encoded_sets: AnyEncodedSets,
    settings: TrainingSettings | None,
) -> RunPlan:
    """Plans the steps, and how to create the model.

    Args:
        task: what to train and evaluate, and with which flags.
        encoded_sets: tells how many examples and records the train set has.
        settings: result of `collect_settings`.

    Raises:
        ValueError: the training would be shorter than one step.
    """
    start = task.start
    # Without training, those of the weights' training.
    recorded_settings = start.recorded_settings
    if settings is not None:
        recorded_settings = resuming.settings_to_record(
            task.config, start.preset, settings
        )
    return RunPlan(
        create_model=functools.partial(
            task.create_model, **task.config.network
        ),
        loss=task.loss,
        num_steps=_compute_num_steps(task, encoded_sets),
        recorded_settings=recorded_settings,
    )


def _compute_num_steps(
    task: AnyTask,
    encoded_sets: AnyEncodedSets,
) -> NumSteps | None:
    """Returns the numbers of training and warmup steps, None without them."""
    if "train" not in encoded_sets:
        return None
    train_set = encoded_sets["train"]
    if task.counts_examples:
        return task.config.num_steps(train_set.num_examples)
    return task.config.num_steps(train_set.num_records)


def check_resumed_training(
    start: StartingPoint[FineTuningConfig],
    recorded_sets: RecordedSets,
    settings: TrainingSettings | None,
) -> None:
    """Checks that a resumed run goes on with what it began with.

    Args:
        start: knows what the earlier run recorded.
        recorded_sets: files and rows of the sets, as this command reads them.
        settings: result of `collect_settings`. None passes, because a command
            that does not train resumes nothing.
    """
    if settings is None:
        return
    check_train_set(
        start.preset,
        recorded_sets,
        settings["train_records"],
        has_table=start.dev_set_rule is not None,
    )
    resuming.check_resumed(start.config, start.preset, settings)
