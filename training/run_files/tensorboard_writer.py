"""Writes metrics to the files that TensorBoard reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf


class TensorboardWriter:
    """Writes metrics as TensorBoard shows them.

    Args:
        folder: folder of the files. The first write creates a file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer: tf.summary.SummaryWriter | None = None

    def write(
        self, prefix: str, step: int, metrics: Mapping[str, float | None]
    ) -> None:
        """Writes the metrics of a step.

        Args:
            prefix: what the names of the metrics begin with, such as "eval/".
            step: number of steps trained.
            metrics: {name: value}. A value of None is not written.
        """
        # Import late, so that reading a history does not load TensorFlow.
        import tensorflow as tf

        if self._writer is None:
            self._writer = tf.summary.create_file_writer(str(self._folder))
        with self._writer.as_default():
            for name, value in metrics.items():
                if value is not None:
                    tf.summary.scalar(prefix + name, value, step=step)
        self._writer.flush()
