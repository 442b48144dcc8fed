"""Counts steps that changed no weight, and ends a run that makes no others."""

import numpy as np
from absl import logging

from data.io import tfrecords
from training.checkpointing import Checkpointer
from training.config import TrainingConfig
from training.train_step import NOT_FINITE, OVERFLOWED


class SkippedSteps:
    """Counts the consecutive steps whose loss or gradient was not finite.

    Args:
        config: flags of the training.
        checkpointer: names the checkpoints to resume from.
        records: training records, for the error message. None if unknown.

    Attributes:
        in_a_row: number of such steps since the last update.
    """

    def __init__(
        self,
        config: TrainingConfig,
        checkpointer: Checkpointer,
        records: tfrecords.Records | None,
    ) -> None:
        self._config, self._checkpointer = config, checkpointer
        self._records = records
        self.in_a_row = 0

    def count(self, step: int, outcomes: np.ndarray) -> None:
        """Logs and counts the skipped steps among the steps up to `step`.

        A gradient that overflows only because of float16's loss scaling is
        logged, but not counted.

        Args:
            step: number of steps trained so far.
            outcomes: outcomes of the last steps (train_step.py), int [steps].

        Raises:
            ValueError: too many steps in a row were not finite.
        """
        for number, outcome in enumerate(outcomes, step - len(outcomes) + 1):
            if outcome == OVERFLOWED:
                logging.info(
                    "Step %d was skipped, because its gradient, scaled for "
                    "float16, overflowed. Halving the loss scale.",
                    number,
                )
            elif outcome == NOT_FINITE:
                self.in_a_row += 1
                logging.warning(
                    "Step %d was skipped (%d in a row), because its loss or "
                    "gradient is not finite.",
                    number,
                    self.in_a_row,
                )
                if self.in_a_row >= self._config.max_nonfinite_steps:
                    raise ValueError(self._describe(number))
            else:
                self.in_a_row = 0

    def _describe(self, step: int) -> str:
        """Returns the error message, with advice on how to resume."""
        records, size = "", self._config.batch_size
        if self._records:
            records = " on " + tfrecords.describe_records(
                self._records.files, self._config.seed, (step - 1) * size, size
            )
        message = (
            f"the loss or gradient of {self.in_a_row} steps in a row was not "
            f"finite, up to step {step}{records}. "
            "Check the records, or set a smaller --learning_rate"
        )
        if steps := self._checkpointer.steps():
            message += (
                f"; the newest checkpoint is from step {steps[-1]}. If its "
                f"weights are the cause, remove "
                f"{self._checkpointer.path(steps[-1])}.* to resume from an "
                "earlier step"
            )
        return message
