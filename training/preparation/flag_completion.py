"""Completes the flags of a command by what the folder of its weights states.

This module imports no TensorFlow.
"""

import os

from command_line import config_values, flags
from execution.model_flags import check_required
from model_folders import model_json
from model_folders.reading.presets import Preset
from training.config.training_config import TrainingConfigT
from training.preparation.resuming import check_resumed


def complete_flags(
    parsed: flags.ParsedCommand[TrainingConfigT], preset: Preset | None
) -> flags.ParsedCommand[TrainingConfigT]:
    """Lets the folder of the weights decide flags, and checks all flags.

    The network, the vocabulary and the casing come from the folder. The
    settings of the head are only used if the command does not train.

    Args:
        parsed: the flags of the command line, and which the user set.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: a required flag is not set, and the folder does not state
            it. Or flags contradict each other, the folder or the run.
        OSError: a required flag is not set, and the folder contains no weights.
    """
    trains = parsed.config.training.do_train
    if preset and (preset.is_own_run or not trains):
        preset.check_model_class(parsed.config.model_class)
    if preset:
        stated = _find_stated_flags(parsed, preset)
        source = os.path.join(preset.path, model_json.MODEL_JSON_FILE)
        parsed = config_values.decide_open_flags(parsed, stated, source)
    config = parsed.config
    check_required(config, config.required_flags, preset)
    config.check(parsed.set_by_user)
    if not (preset or trains):
        raise ValueError(
            f"no checkpoint in --output_dir={config.training.output_dir} and "
            "no --init_checkpoint: train first, or set --init_checkpoint"
        )
    if trains:
        check_resumed(config, preset)
    return parsed


def _find_stated_flags(
    parsed: flags.ParsedCommand[TrainingConfigT], preset: Preset
) -> dict[str, object]:
    """Returns {flag: value} that the folder states."""
    stated: dict[str, object] = {**preset.identity_flags}
    if not parsed.config.training.do_train:
        stated |= {**preset.head_settings, **preset.network}
        stated |= preset.decision_flags
        stated["labels"] = preset.labels
    if preset.dev_set_rule:
        stated["dev_fraction"] = preset.dev_set_rule.dev_fraction
    if preset.is_own_run and "data_file" in parsed.set_by_user:
        # The run chose these values to suit its data.
        recorded = preset.recorded_settings.get("flags", {})
        stated["max_seq_length"] = recorded.get("max_seq_length")
        stated["num_train_epochs"] = recorded.get("num_train_epochs")
    return stated
