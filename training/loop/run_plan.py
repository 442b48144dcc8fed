"""Defines `RunPlan`: what a run trains and records.

`plan_fine_tuning` and `plan_pretraining` create it, and `load_trainer` creates
the model and the Trainer by it.
"""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Unpack

from model_folders.bert_config import BertConfig
from model_folders.training_settings import TrainingSettings
from modeling.base_loss import AnyLoss
from training.config.training_config import NumSteps

if TYPE_CHECKING:
    from modeling.arguments import TaskModelArguments
    from modeling.base_task_model import AnyTaskModel


class CreateModel(Protocol):
    """Creates the model of a task, as `FineTuningTask.create_model` does."""

    def __call__(
        self,
        bert_config: BertConfig,
        /,
        **arguments: "Unpack[TaskModelArguments]",
    ) -> "AnyTaskModel":
        """Creates the model, with arguments that every model accepts."""


@dataclasses.dataclass(frozen=True)
class RunPlan:
    """The plan of a training: its model, its loss, its steps and its settings.

    For example, 3 epochs of 3,200 examples in batches of 32 have
    `num_steps.training` = 300, and a task that answers yes or no has the
    `labels` ["no", "yes"]. A command that only evaluates has `num_steps` None.

    Attributes:
        create_model: function that creates the task's model.
        loss: the task's loss.
        num_steps: numbers of the steps, None without training.
        training_settings: the settings that a resumed run must keep.
        labels: names of the model's outputs, in order. If None, the run has no
            labels.txt.
        label_alternatives: `labels`, and other lists of names that the files
            of the weights may use for the outputs. Empty if the outputs are
            not labels.
        dev_set_checksum: checksum of the dev set, for the `History`.
    """

    create_model: CreateModel
    loss: AnyLoss
    num_steps: NumSteps | None
    training_settings: TrainingSettings
    labels: Sequence[str] | None = None
    label_alternatives: Sequence[Sequence[str]] = ()
    dev_set_checksum: int = 0
