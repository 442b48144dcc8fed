"""Logs and counts skipped steps, whose loss or gradient is not finite."""

from collections.abc import Callable

import numpy as np
from absl import logging

from training.outputs import checkpointing
from training.steps import train_step


class SkippedSteps:
    """Logs skipped steps, and stops a run after too many in a row.

    The arguments are those of Trainer.train.

    Attributes:
        in_a_row: number of latest consecutive steps skipped because their loss
            or gradient was not finite.
    """

    def __init__(
        self,
        max_nonfinite_steps: int,
        describe_batch: Callable[[int], str] | None,
        checkpointer: checkpointing.Checkpointer | None,
    ) -> None:
        self.in_a_row = 0
        self._max_in_a_row = max_nonfinite_steps
        self._describe_batch = describe_batch
        self._checkpointer = checkpointer

    def record(self, outcomes: np.ndarray, steps_before: int) -> None:
        """Logs and counts the outcomes (see TrainStep) of steps."""
        for step, outcome in enumerate(outcomes, start=steps_before + 1):
            if outcome == train_step.OVERFLOWED:
                logging.info(
                    "Step %d was skipped: its gradient, scaled for float16, "
                    "overflowed; the loss scale is halved.",
                    step,
                )
            elif outcome == train_step.NOT_FINITE:
                self._count(step)
            else:
                self.in_a_row = 0

    def _count(self, step: int) -> None:
        self.in_a_row += 1
        logging.warning(
            "Step %d was skipped, %d in a row: its loss or gradient is not "
            "finite.",
            step,
            self.in_a_row,
        )
        if self.in_a_row < self._max_in_a_row:
            return
        records = self._describe_batch and self._describe_batch(step - 1)
        raise ValueError(
            f"the loss or gradient of {self.in_a_row} steps in a row was not "
            f"finite, up to step {step}{f' on {records}' if records else ''}. "
            "Look at the records, or give a smaller --learning_rate"
            f"{self._way_back(step - self.in_a_row)}"
        )

    def _way_back(self, last_made: int) -> str:
        """Returns advice on where to resume; `last_made` is the last update."""
        if self._checkpointer is None or not self._checkpointer.steps():
            return ""
        kept = self._checkpointer.steps()
        way = f"; the checkpoint of step {kept[-1]} is kept"
        if kept[-1] >= last_made:
            # No loss was computed with the newest checkpoint's weights.
            before = (
                f"resume from step {kept[-2]}" if kept[1:] else "start again"
            )
            way += (
                ", but its weights may be the cause: remove "
                f"{self._checkpointer.path(kept[-1])}.* to {before}"
            )
        return way
