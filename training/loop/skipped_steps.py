"""Counts the steps in a row that changed no weight: too many are an error."""

from absl import logging

from data.arrays import IntArray
from files.paths import StrPath
from training.loop.step_gradients import Outcome

# Number of skipped steps in a row that end a training.
MAX_SKIPPED_STEPS = 10


class SkippedStepCounter:
    """Counts the steps in a row that changed no weight.

    A gradient that overflows only because of float16's loss scaling does not
    count.

    Args:
        output_dir: folder of the run, for the message.

    Attributes:
        num_in_a_row: number of these steps up to the current step.
    """

    def __init__(self, output_dir: StrPath) -> None:
        self._output_dir = output_dir
        self.num_in_a_row = 0

    def count(self, step: int, outcomes: IntArray) -> None:
        """Counts the outcomes of steps, the last of which is `step`.

        Raises:
            ValueError: MAX_SKIPPED_STEPS steps in a row were skipped.
        """
        for outcome_step, outcome in enumerate(
            outcomes, step - len(outcomes) + 1
        ):
            if outcome == Outcome.APPLIED:
                self.num_in_a_row = 0
            elif outcome == Outcome.NOT_FINITE:
                self.num_in_a_row += 1
                logging.warning(
                    "Step %d was skipped (%d in a row), because its loss or "
                    "gradient is not finite.",
                    outcome_step,
                    self.num_in_a_row,
                )
            if self.num_in_a_row >= MAX_SKIPPED_STEPS:
                raise ValueError(
                    f"the loss or gradient of {self.num_in_a_row} steps in a "
                    f"row was not finite, up to step {outcome_step}. Set a "
                    "smaller --learning_rate. If the weights of the newest "
                    f"checkpoint in {self._output_dir} are the "
                    "cause, remove its files to resume from an earlier step"
                )
