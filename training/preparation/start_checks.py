"""Checks the weights, the lengths and the outputs of a command.

A flow calls this module, after the rows of --data_file have decided the length.
This module imports no TensorFlow.
"""

import modeling
from model_folders import atomic_folders
from model_folders.reading import settings_check
from training.config.training_config import TrainingConfig
from training.preparation.starting_point import StartingPoint


def check_start(start: StartingPoint[TrainingConfig]) -> None:
    """Checks the weights, the lengths and the folders of the flags.

    Raises:
        ValueError: a flag contradicts a file.
        OSError: a file is missing, or the export cannot be written.
    """
    config = start.config
    if start.preset and not start.is_own_run:
        modeling.check_checkpoint(
            start.preset,
            config=start.bert_config,
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
        start.bert_config,
        config.model.required_config_file,
        max_seq_length=config.max_seq_length,
        export_seq_length=config.export.export_seq_length,
    )
