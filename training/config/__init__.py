"""Configuration of training. Each field defines a flag, its default and help.

`files/flags.py` defines the flags of a class, and returns an instance of the
class with the parsed values. To vary a configuration, use
`dataclasses.replace`. The modules of this folder import no TensorFlow.
"""

from training.config.fine_tuning import DataFolderConfig, FineTuningConfig
from training.config.model import (
    PRECISIONS,
    DeviceConfig,
    ExportConfig,
    ModelConfig,
    TextConfig,
)
from training.config.pretraining import PretrainingConfig
from training.config.training import OptimizerConfig, TrainingConfig

__all__ = [
    "PRECISIONS",
    "DataFolderConfig",
    "DeviceConfig",
    "ExportConfig",
    "FineTuningConfig",
    "ModelConfig",
    "OptimizerConfig",
    "PretrainingConfig",
    "TextConfig",
    "TrainingConfig",
]
