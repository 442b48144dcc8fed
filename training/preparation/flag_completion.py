"""Completes the flags of a command by what the folder of its weights states.

This module imports no TensorFlow.
"""

import os
from collections.abc import Mapping, Sequence

from command_line import config_values, flags
from execution.model_flags import find_missing_flags
from model_folders import model_json
from model_folders.reading.presets import Preset
from model_folders.reading.stated_flags import (
    decision_flags_of,
    identity_flags_of,
)
from training.config.training_config import TrainingConfigT
from training.preparation.resuming import check_resumed

# Flags that --init_checkpoint makes unnecessary.
_FLAGS_STATED_BY_FOLDER = ("bert_config_file", "vocab_file")


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
    stated: dict[str, object] = {**identity_flags_of(preset)}
    if not parsed.config.training.do_train:
        stated |= {**preset.head_settings, **preset.network}
        stated |= decision_flags_of(preset)
        stated["labels"] = preset.labels
    if preset.dev_set_rule:
        stated["dev_fraction"] = preset.dev_set_rule.dev_fraction
    if preset.is_own_run and "data_file" in parsed.set_by_user:
        # The run chose these values to suit its data.
        recorded = preset.recorded_settings.get("flags", {})
        stated["max_seq_length"] = recorded.get("max_seq_length")
        stated["num_train_epochs"] = recorded.get("num_train_epochs")
    return stated


def check_required(
    config: flags.Config, required_flags: Sequence[str], preset: Preset | None
) -> None:
    """Checks that flags are set, by the user or by the folder of the weights.

    Args:
        config: the completed flags.
        required_flags: names of the flags that must be set.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: a flag is not set. The message names all of them.
        OSError: the folder contains no weights.
    """
    values = config_values.flag_values_of(config)
    missing = find_missing_flags(
        {name: values[name] for name in required_flags}, preset
    )
    if not missing:
        return
    run_settings: Mapping[str, object] = {}
    if preset and preset.is_own_run:
        run_settings = preset.recorded_settings
    descriptions = []
    if not preset and "bert_config_file" in missing:
        descriptions.append(
            "--init_checkpoint (or --bert_config_file and --vocab_file, for "
            "random weights)"
        )
        missing = [
            name for name in missing if name not in _FLAGS_STATED_BY_FOLDER
        ]
    descriptions += [
        config.describe_missing(name, run_settings) for name in missing
    ]
    raise ValueError(f"missing required flags: {', '.join(descriptions)}")
