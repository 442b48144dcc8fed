"""Checks the weights, the lengths and the outputs of a command.

`fine_tune` and `pretrain` call this module first, after the rows of --data_file
have decided the length. This module imports no TensorFlow.
"""

import modeling
from model_folders import atomic_folders
from model_folders.reading import settings_check
from training.config.training_config import TrainingConfig
from training.starting_point import StartingPoint


def check_start(starting_point: StartingPoint[TrainingConfig]) -> None:
    """Checks the weights, the lengths and the folders of the flags.

    Args:
        starting_point: the flags, after files have decided those that were
            open, and what the folder of the weights states.

    Raises:
        ValueError: a flag contradicts a file.
        OSError: a file is missing, or the export cannot be written.
    """
    config = starting_point.config
    preset = starting_point.preset
    if preset and not starting_point.is_own_run:
        modeling.check_checkpoint(
            preset,
            config=starting_point.bert_config,
            initial_blocks=config.distillation.initial_blocks,
        )
    outputs = {
        "--export_dir": config.export.export_dir,
        "--export_weights": config.training.export_weights,
    }
    for flag, path in outputs.items():
        if path:
            atomic_folders.check_replaceable(path, flag)
    settings_check.check_lengths(
        starting_point.bert_config,
        config.model.required_config_file,
        max_seq_length=config.max_seq_length,
        export_seq_length=config.export.export_seq_length,
    )
