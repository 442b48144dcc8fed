"""Checks the weights, the lengths and the outputs of a command.

`fine_tune` and `pretrain` call this module first, after the rows of --data_file
have decided the length. This module imports no TensorFlow.
"""

import modeling
from model_folders import atomic_folders
from model_folders.bert_config import BertConfig
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset
from training.config.training_config import TrainingConfig


def check_start(
    config: TrainingConfig, preset: Preset | None, bert_config: BertConfig
) -> None:
    """Checks the weights, the lengths and the folders of the flags.

    Args:
        config: the flags, with all that files have decided.
        preset: Preset of the initial weights, None if they are random.
        bert_config: configuration of the network.

    Raises:
        ValueError: a flag contradicts a file.
        OSError: a file is missing, or the export cannot be written.
    """
    if preset and not preset.is_own_run:
        modeling.check_checkpoint(
            preset,
            config=bert_config,
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
        bert_config,
        config.model.required_config_file,
        max_seq_length=config.max_seq_length,
        export_seq_length=config.export.export_seq_length,
    )
