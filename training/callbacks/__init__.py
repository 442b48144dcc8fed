"""Callbacks for everything in a training run except the steps themselves."""

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

# Import TensorFlow only for type checkers, because programs that read a history
# (training/callbacks/history.py) must not load TensorFlow.
if TYPE_CHECKING:
    import keras

    from training.trainer import Trainer

# {name: value} of one step: the loss, the terms that add up to the loss, the
# learning rate and the norm of the gradient.
Logs: TypeAlias = Mapping[str, float]


class Callback:
    """Base class of callbacks. Each callback handles one concern of a run.

    The Trainer calls each method on all its callbacks in turn. The methods are
    defined in the order in which a run calls them.

    Attributes:
        trainer: the Trainer of the run, which sets this attribute.
        every: `on_step` runs at least at each multiple of this number of steps,
            even if the Trainer runs several steps in one call. 0 = `on_step`
            does not need to run at particular steps.
        may_save: False postpones a checkpoint that is due.
    """

    trainer: "Trainer"
    every: int = 0
    may_save: bool = True

    def wrap(self, model: Any, loss: Any) -> tuple[Any, Any]:
        """Returns the model to train and the loss to minimize.

        By default, returns both unchanged. The Trainer calls this method in its
        strategy's scope.
        """
        return model, loss

    def variables(self) -> Mapping[str, "keras.Variable"]:
        """Returns {name: variable} to save in each checkpoint of the run.

        A resumed run restores these variables.
        """
        return {}

    def on_restore(self, step: int) -> None:
        """Runs before training, after the Trainer sets the weights.

        The weights come from the run's checkpoint or from --init_checkpoint,
        or are random.

        Args:
            step: step of the restored checkpoint, 0 if none was restored.
        """

    def has_ended(self, step: int) -> bool:
        """Returns whether a run that resumes at `step` must not train more.

        If so, logs why.
        """
        return False

    def running(self) -> Any:
        """Returns a context manager in which the Trainer runs all steps."""
        return contextlib.nullcontext()

    def on_step_begin(self) -> float:
        """Returns this worker's vote on a decision, such as to end training.

        `on_step` receives the mean of all workers' votes.
        """
        return 0.0

    def on_step(self, step: int, logs: Logs, agreed: float) -> bool | None:
        """Runs after a step, and returns True to end the training.

        Args:
            step: number of steps trained so far.
            logs: the loss, the terms that add up to the loss, the learning rate
                and the norm of the gradient.
            agreed: mean of the votes that the workers cast before the step.
                With a single replica, the vote that it casts after the step.
        """

    def on_save(self, step: int) -> None:
        """Runs before a checkpoint is written."""
