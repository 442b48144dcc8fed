"""Defines what a flow plans before its model exists."""

import dataclasses
from typing import TYPE_CHECKING

from model_folders.model_json_types import TrainingSettings
from training.config.training_config import NumSteps
from training.task import CreateModel

if TYPE_CHECKING:
    from modeling.base_loss import AnyLoss


@dataclasses.dataclass(frozen=True)
class RunPlan:
    """What a command will train, evaluate and record.

    Attributes:
        create_model: creates the task's model.
        loss: the task's loss.
        num_steps: numbers of the steps, None without training.
        settings: result of `resuming.settings_to_record`, {} to record none.
        dev_set_checksum: checksum of the dev set, 0 without one.
    """

    create_model: CreateModel
    loss: "AnyLoss"
    num_steps: NumSteps | None
    settings: TrainingSettings
    dev_set_checksum: int
