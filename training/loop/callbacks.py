"""Defines `Callback`: what runs after each step of a training.

A callback that evaluates is in best_step_callback.py, and one that adds losses
to the history in summary_callback.py.
"""

import enum
from collections.abc import Mapping
from typing import TypeAlias

# {name: value} of one step: the loss, the terms that add up to the loss, the
# learning rate and the norm of the gradient.
Logs: TypeAlias = Mapping[str, float]


class Decision(enum.Enum):
    """A callback's decision whether the training goes on after a step.

    With several workers, each must decide after the same steps. If one of them
    decides to end the training, all end.

    Attributes:
        NONE: the callback did not run after this step. The workers do not ask
            each other.
        GO_ON: the training goes on, unless another worker ends it.
        END: the training ends.
    """

    NONE = enum.auto()
    GO_ON = enum.auto()
    END = enum.auto()


class Callback:
    """Base class of callbacks, which `Trainer.fit` calls in turn.

    Attributes:
        interval: `on_step` runs at least at each multiple of this number of
            steps, even if the Trainer runs several steps in one call. 0 =
            `on_step` does not need to run at particular steps.
    """

    interval: int = 0

    def on_train_begin(self) -> None:
        """Runs once, before the first step. The weights are restored."""

    def describe_reason_to_end(self, step: int) -> str | None:
        """Returns why a run that resumes at `step` trains no more.

        Returns None if it may train.
        """
        return None

    def on_step(self, step: int, logs: Logs) -> Decision:
        """Runs after a step, and decides whether the training ends.

        Args:
            step: number of steps trained so far.
            logs: the loss, the terms that add up to the loss, the learning rate
                and the norm of the gradient.
        """
        return Decision.NONE
