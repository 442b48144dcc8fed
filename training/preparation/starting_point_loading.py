"""Loads the `StartingPoint` of a training command, before any slow work.

The folder of the weights, the configuration and the vocabulary are read once,
and passed on as a `StartingPoint`, with the flags that the folder decides. This
module imports no TensorFlow.
"""

import dataclasses
import os

from model_folders import model_json
from model_folders.checkpoint_folders import (
    find_best_checkpoint,
    list_checkpoint_steps,
)
from model_folders.reading import hub, settings_check
from model_folders.reading.preset import (
    Preset,
    check_exists,
    read_preset,
)
from options.parsed_command import ParsedCommand
from training.config.model_config import check_required
from training.config.training_config import TrainingConfig, TrainingConfigT
from training.dev_set.rules import dev_set_rule_of
from training.preparation.model_files import (
    read_bert_config,
    read_tokenizer,
    stated_flags_of,
)
from training.preparation.resume_checks import check_resumed_settings
from training.starting_point import StartingPoint


def load_starting_point(
    parsed: ParsedCommand[TrainingConfigT],
) -> StartingPoint[TrainingConfigT]:
    """Reads the files that a command starts from, and checks all flags.

    Downloads models of the hub. The folder of the weights decides the flags
    that are still open.

    Raises:
        ValueError: a required flag is not set, and no folder states it. Or
            flags contradict each other, the folder, the run or a file.
        OSError: a file is missing, or cannot be read or downloaded.
    """
    parsed = _download_models(parsed)
    is_own_run = has_own_run(parsed.config)
    preset = read_initial_preset(parsed.config, is_own_run=is_own_run)
    parsed = complete_flags(parsed, preset, is_own_run=is_own_run)
    _check_flags(parsed, preset, is_own_run=is_own_run)
    config = parsed.config
    # `check_start` later checks its lengths, because the rows of --data_file
    # may still change the flags.
    bert_config = read_bert_config(config.model, preset)
    tokenizer = None
    if config.model.vocab_file:
        tokenizer = read_tokenizer(
            config.model, parsed.set_by_user, bert_config, preset
        )
    return StartingPoint(
        parsed=parsed,
        preset=preset,
        bert_config=bert_config,
        tokenizer=tokenizer,
        is_own_run=is_own_run,
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


def read_initial_preset(
    config: TrainingConfig, *, is_own_run: bool
) -> Preset | None:
    """Reads the folder of the weights that a training command begins with.

    This is --output_dir if it contains a run. Otherwise --init_checkpoint names
    the folder, or with --init_layers the flag --teacher.

    Args:
        config: the flags of the command, with the paths.
        is_own_run: result of `has_own_run`.

    Returns:
        what the files in the folder state, None if the weights are random.

    Raises:
        ValueError: a file is malformed, or two files contradict each other.
        OSError: no file has the path of a flag, or a file cannot be read.
    """
    checkpoint = config.initial_checkpoint
    flag = "--init_checkpoint" if config.model.init_checkpoint else "--teacher"
    if checkpoint:
        # A wrong path is an error even if the command does not use it.
        check_exists(checkpoint, flag)
    if is_own_run:
        return read_preset(config.training.output_dir, "--output_dir")
    return read_preset(checkpoint, flag) if checkpoint else None


def complete_flags(
    parsed: ParsedCommand[TrainingConfigT],
    preset: Preset | None,
    *,
    is_own_run: bool,
) -> ParsedCommand[TrainingConfigT]:
    """Sets the open flags to the values that the folder of the weights states.

    The network, the vocabulary and the casing come from the folder. The
    settings of the head are only used if the command does not train.

    Args:
        parsed: the flags of the command line, and which the user set.
        preset: result of `read_initial_preset`.
        is_own_run: result of `has_own_run`.

    Raises:
        ValueError: the folder contains a model of another class, or a value
            that it states is not valid.
    """
    if preset is None:
        return parsed
    config = parsed.config
    if is_own_run or not config.training.do_train:
        settings_check.check_model_class(preset, config.model_class)
    stated = _collect_stated_flags(parsed, preset, is_own_run=is_own_run)
    source = os.path.join(preset.path, model_json.MODEL_JSON_FILE)
    return parsed.decide_if_open(stated, source)


def _collect_stated_flags(
    parsed: ParsedCommand[TrainingConfigT], preset: Preset, *, is_own_run: bool
) -> dict[str, object]:
    """Returns {flag: its value in the files of the folder}."""
    stated: dict[str, object] = {**stated_flags_of(preset)}
    if not parsed.config.training.do_train:
        stated |= {**preset.head_settings, **preset.network_arguments}
        stated["trim_padding"] = preset.trim_padding
        stated["labels"] = preset.labels
    if rule := dev_set_rule_of(preset):
        stated["dev_fraction"] = rule.dev_fraction
    if "data_file" in parsed.set_by_user and is_own_run:
        # The run chose these values to suit its data.
        run_flags = preset.training_settings.get("flags", {})
        stated["max_seq_length"] = run_flags.get("max_seq_length")
        stated["num_train_epochs"] = run_flags.get("num_train_epochs")
    return stated


def _check_flags(
    parsed: ParsedCommand[TrainingConfig],
    preset: Preset | None,
    *,
    is_own_run: bool,
) -> None:
    """Checks the flags, after `complete_flags` has completed them."""
    config = parsed.config
    trains = config.training.do_train
    run_preset = preset if is_own_run else None
    check_required(
        config,
        config.required_flags,
        preset,
        training_settings=run_preset.training_settings if run_preset else {},
    )
    config.check(parsed.set_by_user)
    if not (preset or trains):
        raise ValueError(
            f"no checkpoint in --output_dir={config.training.output_dir} and "
            "no --init_checkpoint: train first, or set --init_checkpoint"
        )
    if trains:
        check_resumed_settings(
            config, run_preset, {"flags": config.to_flags_entry()}
        )
