"""Completes the flags of a script from the model's folder."""

import dataclasses
from typing import Any, TypeVar

import modeling
from command_line import flags
from command_line.groups import ModelConfig
from modeling import presets
from modeling.checkpoint_folders import find_best
from modeling.presets import Preset, checkpoint_steps
from training.config import TrainingConfig
from training.run_folder import check_resumed

Flags = TypeVar("Flags", bound=ModelConfig)


def read_preset(config: TrainingConfig) -> Preset | None:
    """Reads the folder of the weights that a training command begins with.

    This is --output_dir if it contains a checkpoint, or only a best step and
    the command does not train. Otherwise it is the folder of --init_checkpoint.
    Returns None if the weights are random.
    """
    folder, start = config.output_dir, config.initial_checkpoint
    flag = "--init_checkpoint" if config.init_checkpoint else "--teacher"
    # A wrong path is an error even if the command does not use it.
    preset = presets.read(start, flag) if start else None
    if checkpoint_steps(folder) or (not config.do_train and find_best(folder)):
        return presets.read(folder, "--output_dir")
    return preset


def resolve(config: Flags, preset: Preset | None) -> Flags:
    """Sets the flags that the user did not set to the values in a folder.

    The network, the vocabulary and the casing come from the folder. The
    settings of the head are only used if the command does not train.

    Args:
        config: the parsed flags.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: a required flag is not set, and the folder does not state
            it. Or flags contradict each other, the folder or the run.
    """
    trains, weights = False, preset.weights if preset else None
    if isinstance(config, TrainingConfig) and config.do_train:
        # Exports and copies contain the weights that this run trains.
        trains, weights = True, config.output_dir
    if preset and (not trains or preset.is_resumed):
        preset.check_head(config.head)
    found = _stated_flags(config, preset, trains) if preset else {}
    config = dataclasses.replace(config, weights=weights, **found)
    if missing := [n for n in config.required if vars(config)[n] is None]:
        if preset:
            # Fail here if the path does not exist or contains no weights, such
            # as the path of an export.
            modeling.find_checkpoint(preset.weights)
        names = [f"--{name}" for name in missing]
        if not preset and "bert_config_file" in missing:
            both = "--bert_config_file and --vocab_file"
            start = f"--init_checkpoint (or {both}, for random weights)"
            names = [start, *(name for name in names if name not in both)]
        if "task_name" in missing:
            task = "--data_file (or --task_name and --data_dir)"
            names = [*(x for x in names if x != "--task_name"), task]
        raise ValueError(f"missing required flags: {', '.join(names)}")
    config.check()
    if isinstance(config, TrainingConfig) and not (preset or trains):
        raise ValueError(
            f"no checkpoint in --output_dir={config.output_dir} and no "
            "--init_checkpoint: train first, or set --init_checkpoint"
        )
    if isinstance(config, TrainingConfig) and trains:
        check_resumed(config, preset)
    return config


# Returns {flag: value in the folder} of the flags that are not set.
def _stated_flags(
    config: ModelConfig, preset: Preset, trains: bool
) -> dict[str, Any]:
    stated = {
        **({} if trains else {**preset.settings, **preset.network}),
        "labels": None if trains else preset.labels,
        "left_to_right": preset.network["left_to_right"],
        "bert_config_file": preset.config_file,
        "vocab_file": preset.vocab_file,
        "do_lower_case": preset.do_lower_case,
    }
    if preset.is_resumed and "data_file" in config.given_flags:
        # The run chose these values to suit its data.
        recorded = preset.training.get("flags", {})
        chosen = ("max_seq_length", "num_train_epochs")
        stated |= {name: recorded.get(name) for name in chosen}
    return {
        name: stated[name]
        for name in flags.unset(config) & stated.keys()
        if stated[name] is not None
    }
