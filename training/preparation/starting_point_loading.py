"""Finds out what a training command starts from, before any slow work.

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
from model_folders.reading import folder_reading, hub, settings_check
from model_folders.reading.preset import Preset
from options.parsed_command import ParsedCommand
from training.config.model_config import check_required
from training.config.training_config import TrainingConfig, TrainingConfigT
from training.dev_set.rules import dev_set_rule_of
from training.preparation.model_files import read_bert_config, read_tokenizer
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
    preset = read_initial_preset(parsed.config)
    parsed = complete_flags(parsed, preset)
    check_flags(parsed, preset)
    config = parsed.config
    # `start_checks.check_start` later checks its lengths, because the rows of
    # --data_file may still change the flags.
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


def read_initial_preset(config: TrainingConfig) -> Preset | None:
    """Reads the folder of the weights that a training command begins with.

    This is --output_dir if it contains a checkpoint, or only a best step and
    the command does not train. Otherwise it is the folder of --init_checkpoint.
    Returns None if the weights are random.
    """
    folder = config.training.output_dir
    checkpoint = config.initial_checkpoint
    flag = "--init_checkpoint" if config.model.init_checkpoint else "--teacher"
    if checkpoint:
        # A wrong path is an error even if the command does not use it.
        folder_reading.check_exists(checkpoint, flag)
    is_run = bool(list_checkpoint_steps(folder))
    if not (is_run or config.training.do_train):
        is_run = bool(find_best_checkpoint(folder))
    if is_run:
        return folder_reading.read_preset(
            folder, "--output_dir", is_own_run=True
        )
    return folder_reading.read_preset(checkpoint, flag) if checkpoint else None


def complete_flags(
    parsed: ParsedCommand[TrainingConfigT], preset: Preset | None
) -> ParsedCommand[TrainingConfigT]:
    """Lets the folder of the weights decide the flags that are still open.

    The network, the vocabulary and the casing come from the folder. The
    settings of the head are only used if the command does not train.

    Args:
        parsed: the flags of the command line, and which the user set.
        preset: Preset of the weights, None if they are random.

    Raises:
        ValueError: the folder contains a model of another class, or a value
            that it states is not valid.
    """
    if preset is None:
        return parsed
    config = parsed.config
    if preset.is_own_run or not config.training.do_train:
        settings_check.check_model_class(preset, config.model_class)
    stated = _collect_stated_flags(parsed, preset)
    source = os.path.join(preset.path, model_json.MODEL_JSON_FILE)
    return parsed.decide_if_open(stated, source)


def check_flags(
    parsed: ParsedCommand[TrainingConfig], preset: Preset | None
) -> None:
    """Checks the flags, after `complete_flags` has completed them.

    Args:
        parsed: the completed flags, and which the user set.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: a required flag is not set, and the folder does not state
            it. Or flags contradict each other, the folder or the run.
        OSError: a required flag is not set, and the folder contains no weights.
    """
    config = parsed.config
    trains = config.training.do_train
    check_required(config, config.required_flags, preset)
    config.check(parsed.set_by_user)
    if not (preset or trains):
        raise ValueError(
            f"no checkpoint in --output_dir={config.training.output_dir} and "
            "no --init_checkpoint: train first, or set --init_checkpoint"
        )
    if trains:
        check_resumed_settings(
            config, preset, {"flags": config.to_flags_entry()}
        )


def _collect_stated_flags(
    parsed: ParsedCommand[TrainingConfigT], preset: Preset
) -> dict[str, object]:
    """Returns {flag: value} that the folder states."""
    stated: dict[str, object] = {**preset.stated_flags}
    if not parsed.config.training.do_train:
        stated |= {**preset.head_settings, **preset.network_arguments}
        stated["trim_padding"] = preset.trim_padding
        stated["labels"] = preset.labels
    if rule := dev_set_rule_of(preset):
        stated["dev_fraction"] = rule.dev_fraction
    if preset.is_own_run and "data_file" in parsed.set_by_user:
        # The run chose these values to suit its data.
        run_flags = preset.training_settings.get("flags", {})
        stated["max_seq_length"] = run_flags.get("max_seq_length")
        stated["num_train_epochs"] = run_flags.get("num_train_epochs")
    return stated
