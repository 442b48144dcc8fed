"""What a training run does besides its steps: one file for each concern."""

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

# Loading a run's history must not load TensorFlow.
if TYPE_CHECKING:
    import keras
    import tensorflow as tf

    from training.trainer import Trainer


class Callback:
    """One concern of a run, with its own state.

    The Trainer calls each method of its callbacks, in their order. The methods
    are defined here in the order in which a run calls them.

    Attributes:
        trainer: the Trainer that the callback is attached to.
        every: the callback sees each step that is a multiple of this number,
            because a call of several steps ends there; 0 = any step.
        may_save: False postpones a checkpoint that is due.
    """

    trainer: "Trainer"
    every: int = 0
    may_save: bool = True

    def attach(self, trainer: "Trainer") -> None:
        """Attaches the callback to a Trainer, whose model exists."""
        self.trainer = trainer

    def wrap(self, model: Any, loss: Any) -> tuple[Any, Any]:
        """Returns what a step trains, and its loss, in place of these two.

        Runs in the scope of the strategy.
        """
        return model, loss

    def variables(self) -> Mapping[str, "keras.Variable"]:
        """Returns {name: variable} to save and restore with the run."""
        return {}

    def on_restore(self, step: int, is_new: bool) -> None:
        """Begins after `step` steps; `is_new` if there was no checkpoint."""

    def has_ended(self, step: int) -> bool:
        """Returns whether training ended at `step` before, and logs why."""
        return False

    def running(self) -> Any:
        """Returns the context manager in which the steps are made."""
        return contextlib.nullcontext()

    def on_step_begin(self) -> float:
        """Returns a number on which all workers agree: its mean over them."""
        return 0.0

    def before_update(self, agreed: "tf.Tensor") -> None:
        """Runs in the graph of each step, before the update.

        Args:
            agreed: float [], the agreed number of `on_step_begin`.
        """

    def after_update(self, step: "tf.Tensor", is_made: "tf.Tensor") -> None:
        """Runs in the graph of each step, after the update.

        Args:
            step: int [], number of the step, from 1.
            is_made: bool [], False if the step was skipped.
        """

    def on_step(
        self, step: int, logs: Mapping[str, float], agreed: float
    ) -> bool | None:
        """Runs after a step; True ends the training.

        Args:
            step: number of steps made.
            logs: the loss, its parts, the learning rate and the norm of the
                gradient.
            agreed: the agreed number; on a single worker it is asked for
                again after the step.
        """

    def evaluating(self) -> Any:
        """Returns the context manager in which the model is evaluated."""
        return contextlib.nullcontext()

    def on_save(self, step: int) -> None:
        """Runs before a checkpoint is written."""

    def on_trained(self) -> None:
        """Runs when training has come to its end, now or earlier."""
