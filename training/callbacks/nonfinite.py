"""Stops a run whose losses or gradients stay infinite or NaN."""

from absl import logging

from data.io import tfrecords
from training import train_step
from training.callbacks import Callback, Logs


class NonFinite(Callback):
    """Logs skipped steps, and stops a run after too many in a row.

    A gradient that overflows only because of float16's loss scaling is logged
    but not counted. No checkpoint is written right after a skipped step,
    because the weights may be the cause. Only the end of training always writes
    a checkpoint.
    """

    def __init__(self) -> None:
        self._in_a_row = 0

    @property
    def may_save(self) -> bool:  # type: ignore[override]
        """False after a skipped step, to postpone a checkpoint."""
        return not self._in_a_row

    def on_step(self, step: int, logs: Logs, agreed: float) -> None:
        """Logs and counts the skipped steps since the previous call.

        Raises:
            ValueError: too many steps in a row were skipped.
        """
        outcomes = self.trainer.outcomes
        for number, outcome in enumerate(outcomes, step - len(outcomes) + 1):
            if outcome == train_step.OVERFLOWED:
                logging.info(
                    "Step %d was skipped, because its gradient, scaled for "
                    "float16, overflowed. Halving the loss scale.",
                    number,
                )
            elif outcome == train_step.NOT_FINITE:
                self._in_a_row += 1
                logging.warning(
                    "Step %d was skipped (%d in a row), because its loss or "
                    "gradient is not finite.",
                    number,
                    self._in_a_row,
                )
                if self._in_a_row >= self.trainer.config.max_nonfinite_steps:
                    raise ValueError(self._describe_failure(number))
            else:
                self._in_a_row = 0

    def _describe_failure(self, step: int) -> str:
        """Returns the error message, with advice on how to resume."""
        records = ""
        if self.trainer.records:
            config = self.trainer.config
            records = " on " + tfrecords.describe_records(
                self.trainer.records.files,
                config.seed,
                (step - 1) * config.batch_size,
                config.batch_size,
            )
        message = (
            f"the loss or gradient of {self._in_a_row} steps in a row was not "
            f"finite, up to step {step}{records}. "
            "Check the records, or set a smaller --learning_rate"
        )
        checkpointer = self.trainer.checkpointer
        if not checkpointer or not (steps := checkpointer.steps()):
            return message
        message += f"; the newest checkpoint is from step {steps[-1]}"
        if steps[-1] >= step - self._in_a_row:
            # All steps since the newest checkpoint were skipped, so its weights
            # may be the cause. Advise the user to resume from an earlier one.
            before = (
                f"resume from step {steps[-2]}" if steps[1:] else "start again"
            )
            message += (
                ", but its weights may be the cause: remove "
                f"{checkpointer.path(steps[-1])}.* to {before}"
            )
        return message
