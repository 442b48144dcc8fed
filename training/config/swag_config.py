"""The flags of run_swag.py."""

import dataclasses

from data.tables.table_layout import LayoutOptions
from model_folders.kinds import ModelClass
from options.fields import group, option_changes
from training.config.fine_tuning_config import FineTuningConfig
from training.config.training_config import OptimizerOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class SwagConfig(FineTuningConfig):
    """Flags of run_swag.py, which are common to all fine-tuning scripts."""

    # The learning rate of the BERT paper, for batches of 16 (section 4.4).
    optimizer: OptimizerOptions = group(
        OptimizerOptions, learning_rate=option_changes(default=2e-5)
    )

    layout_options: LayoutOptions = group(LayoutOptions)

    model_class = ModelClass.MULTIPLE_CHOICE
