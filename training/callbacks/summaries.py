"""Reports losses, speed and memory in the history and the log."""

import resource
import sys
import time

import tensorflow as tf
from absl import logging

from modeling.config import BertConfig
from training.callbacks import Callback, Logs
from training.trainer import Trainer

# Sizes of the square matrices that are multiplied to measure the speed of an
# accelerator and of a CPU. Smaller matrices would not reach the full speed.
_PRODUCT_SIZE, _CPU_PRODUCT_SIZE = 2048, 1024


class Summaries(Callback):
    """Adds losses, speed and memory to the run's history, and logs them.

    Args:
        trainer: the Trainer of the run.
        shape: (number of WordPieces, number of masked positions) of a padded
            example.
    """

    def __init__(self, trainer: Trainer, shape: tuple[int, int]) -> None:
        self._trainer, self._config = trainer, trainer.config
        self.every = self._config.summary_steps
        # Step and time of the last line.
        self._last: tuple[int, float] | None = None
        self._num_tokens = self._flops = self._peak = 0.0
        # Report tokens_per_second and mfu (model FLOPs utilization, the
        # achieved fraction of the peak rate) only if padding is not skipped.
        # Otherwise the number of operations per example depends on the batch.
        if not self._config.unpads:
            self._num_tokens, _ = shape
            self._flops = training_flops(trainer.model.config, *shape)
            rate = matmul_rate(self._config.mixed_precision)
            self._peak = rate * trainer.train_step.strategy.num_replicas_in_sync

    def on_step(self, step: int, logs: Logs) -> None:
        """Adds losses and speed to the history at each multiple of `every`."""
        if self._last is None:
            # Ignore the speed of the first step, whose time includes start-up.
            self._last = (step, time.monotonic())
        if step % self.every:
            return
        values = dict(logs)
        before, began = self._last
        if step > before:
            seconds = max(time.monotonic() - began, 1e-9)
            rate = (step - before) * self._config.batch_size / seconds
            values["examples_per_second"] = rate
            if self._flops:
                values["tokens_per_second"] = rate * self._num_tokens
                achieved = rate * self._flops
                # On a busy machine, the measured peak rate is too low.
                self._peak = max(self._peak, achieved)
                values["mfu"] = achieved / self._peak
            self._last = (step, time.monotonic())
        values["peak_memory_gib"] = _peak_memory() / 2**30
        self._trainer.history.add(
            "train", step, values, logs.get("learning_rate")
        )
        logging.info(
            "Step %d: %s",
            step,
            ", ".join(f"{name} {value:.4g}" for name, value in values.items()),
        )


def training_flops(
    config: BertConfig, max_seq_length: int, num_predictions: int = 0
) -> int:
    """Counts the operations of all matrix products in training on one example.

    A product of [m, k] and [k, n] counts as 2 m k n operations. The backward
    pass computes two products for each product of the forward pass.
    `num_predictions` is the number of masked positions.
    """
    width, length = config.hidden_size, max_seq_length
    block = 4 * width**2 + 2 * width * config.intermediate_size
    attention = 2 * length * width
    encoder = config.num_hidden_layers * length * (block + attention)
    head = num_predictions * (width**2 + width * config.vocab_size)
    return 3 * 2 * (encoder + head + width**2)


def matmul_rate(precision: str) -> float:
    """Measures how many operations this device computes per second.

    Args:
        precision: data type of the matrices that are multiplied: "float32",
            "bfloat16" or "float16".
    """
    kinds = {device.device_type for device in tf.config.list_logical_devices()}
    size = _CPU_PRODUCT_SIZE if kinds == {"CPU"} else _PRODUCT_SIZE
    matrix = tf.random.stateless_normal([size, size], [1, 2])
    matrix = tf.cast(matrix, precision)
    product = tf.function(lambda: tf.reduce_sum(tf.matmul(matrix, matrix)))
    # The first call also traces the function, so do not measure it.
    product().numpy()
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        product().numpy()
        best = min(best, time.perf_counter() - started)
    return 2 * size**3 / best


# Returns the peak memory of the first GPU, or else of this process, in bytes.
def _peak_memory() -> int:
    if tf.config.list_physical_devices("GPU"):
        return tf.config.experimental.get_memory_info("GPU:0")["peak"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return peak if sys.platform == "darwin" else peak * 1024
