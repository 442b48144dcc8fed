"""Loads the `StartingPoint` of a training command, before any slow work.

The folder of the weights, the configuration and the vocabulary are read once,
and passed on as a `StartingPoint`, with the flags that the folder decides. This
module imports no TensorFlow.
"""

import dataclasses
import os
from collections.abc import Mapping

from model_folders import model_json
from model_folders.checkpoint_folders import (
    find_best_checkpoint,
    list_checkpoint_steps,
)
from model_folders.reading import hub, settings_check
from model_folders.reading.preset import Preset, read_preset
from model_folders.reading.weights_paths import check_exists
from options.parsed_command import ParsedCommand
from training.config.training_config import TrainingConfig, TrainingConfigT
from training.dev_set.rules import dev_set_rule_of
from training.preparation.model_files import (
    check_required,
    read_bert_config,
    read_tokenizer,
    stated_flags_of,
)
from training.preparation.resume_checks import check_resumed_flags
from training.starting_point import InitialFolder, StartingPoint


def load_starting_point(
    parsed: ParsedCommand[TrainingConfigT],
) -> StartingPoint[TrainingConfigT]:
    """Reads the files that a command starts from, and checks all flags.

    Downloads models of the hub. The folder of the weights decides the flags
    that are still open.

    Raises:
        ValueError: a required flag is not set, neither by the user nor by the
            folder. Or flags contradict each other, the folder, the run or a
            file.
        OSError: a file is missing, or cannot be read or downloaded.
    """
    parsed = _download_models(parsed)
    initial_folder = read_initial_folder(parsed.config)
    parsed = complete_flags(parsed, initial_folder)
    _check_flags(parsed, initial_folder)
    config = parsed.config
    # `check_start` later checks its lengths, because the rows of --data_file
    # may still change the flags.
    bert_config = read_bert_config(config.model, initial_folder.preset)
    tokenizer = None
    if config.model.vocab_file:
        tokenizer = read_tokenizer(
            config.model, parsed.set_by_user, bert_config, initial_folder.preset
        )
    return StartingPoint(
        parsed=parsed,
        initial_folder=initial_folder,
        bert_config=bert_config,
        tokenizer=tokenizer,
    )


def _download_models(
    parsed: ParsedCommand[TrainingConfigT],
) -> ParsedCommand[TrainingConfigT]:
    """Downloads the models of the hub, and returns their local folders."""
    model = parsed.config.model
    if model.init_checkpoint:
        folder = hub.to_local_folder(model.init_checkpoint)
        model = dataclasses.replace(model, init_checkpoint=folder)
    distillation = parsed.config.distillation
    if distillation.teacher:
        folder = hub.to_local_folder(distillation.teacher)
        distillation = dataclasses.replace(distillation, teacher=folder)
    return parsed.override(model, distillation)


def has_own_run(config: TrainingConfig) -> bool:
    """Returns whether --output_dir contains the run to go on with.

    The command resumes, evaluates or exports it. A run is there if the folder
    contains a checkpoint. If the command does not train, a best step suffices.
    """
    folder = config.training.output_dir
    if list_checkpoint_steps(folder):
        return True
    return not config.training.do_train and bool(find_best_checkpoint(folder))


def read_initial_folder(config: TrainingConfig) -> InitialFolder:
    """Reads the folder of the weights that a training command begins with.

    This is --output_dir if it contains a run. Otherwise --init_checkpoint names
    the folder, or with --init_layers the flag --teacher.

    Raises:
        ValueError: a file is malformed, or two files contradict each other.
        OSError: no file has the path of a flag, or a file cannot be read.
    """
    checkpoint = config.initial_checkpoint
    flag = "--init_checkpoint" if config.model.init_checkpoint else "--teacher"
    if checkpoint:
        # A wrong path is an error even if the command does not use it.
        check_exists(checkpoint, flag)
    if has_own_run(config):
        own_preset = read_preset(config.training.output_dir, "--output_dir")
        return InitialFolder(own_preset, is_own_run=True)
    preset = read_preset(checkpoint, flag) if checkpoint else None
    return InitialFolder(preset, is_own_run=False)


def complete_flags(
    parsed: ParsedCommand[TrainingConfigT], initial_folder: InitialFolder
) -> ParsedCommand[TrainingConfigT]:
    """Sets the open flags to the values in the folder of the weights.

    The network, the vocabulary and the casing come from the folder. The
    settings of the head are only used if the command does not train.

    Args:
        parsed: the flags of the command line, and which the user set.
        initial_folder: result of `read_initial_folder`.

    Raises:
        ValueError: the folder contains a model of another class, or a value
            that is not valid.
    """
    preset = initial_folder.preset
    if preset is None:
        return parsed
    config = parsed.config
    trains = config.training.do_train
    if initial_folder.is_own_run or not trains:
        settings_check.check_model_class(preset, config.model_class)
    # A later source replaces the values of earlier ones.
    sources: list[Mapping[str, object]] = [stated_flags_of(preset)]
    if not trains:
        sources.append(_head_flags_of(preset))
    sources.append(_dev_set_flags_of(preset))
    if initial_folder.is_own_run and "data_file" in parsed.set_by_user:
        sources.append(_data_flags_of_run(preset))
    stated = {flag: value for flags in sources for flag, value in flags.items()}
    source = os.path.join(preset.folder, model_json.MODEL_JSON_FILE)
    return parsed.decide_if_open(stated, source)


def _head_flags_of(preset: Preset) -> dict[str, object]:
    """Returns the flags that a command without training takes from a model."""
    return {
        **preset.head_settings,
        **preset.network_arguments,
        "trim_padding": preset.trim_padding,
        "labels": preset.labels,
    }


def _dev_set_flags_of(preset: Preset) -> dict[str, object]:
    rule = dev_set_rule_of(preset)
    return {"dev_fraction": rule.dev_fraction} if rule else {}


def _data_flags_of_run(preset: Preset) -> dict[str, object]:
    """Returns the flags that a run chose to suit the rows of --data_file."""
    run_flags = preset.training_settings.inputs.get("flags", {})
    return {
        "max_seq_length": run_flags.get("max_seq_length"),
        "num_train_epochs": run_flags.get("num_train_epochs"),
    }


def _check_flags(
    parsed: ParsedCommand[TrainingConfig], initial_folder: InitialFolder
) -> None:
    """Checks the flags, after `complete_flags` has completed them."""
    config = parsed.config
    trains = config.training.do_train
    run_preset = initial_folder.run_preset
    check_required(
        config,
        config.required_flags,
        initial_folder.preset,
        run_preset=run_preset,
    )
    config.check(parsed.set_by_user)
    if not (initial_folder.preset or trains):
        raise ValueError(
            f"no checkpoint in --output_dir={config.training.output_dir} and "
            "no --init_checkpoint: train first, or set --init_checkpoint"
        )
    if trains:
        check_resumed_flags(config, run_preset)
