"""Stops a run that needs more memory than the machine has."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf
from absl import logging

from training import costs
from training.callbacks import Callback
from training.config import TrainingConfig


class MemoryCheck(Callback):
    """Stops a run that does not fit into this machine's memory."""

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Checks the estimated memory, and adds advice to out-of-memory errors.

        Raises:
            ValueError: the run does not fit into the memory. The message
                states the memory needed, and the flags that reduce it.
            MemoryError: TensorFlow has run out of memory.
        """
        trainer, config = self.trainer, self.trainer.config
        needed = costs.training_memory(trainer.model, config, *trainer.shape)
        message = out_of_memory(needed, config)
        # Skip GPUs, because only a GPU's own allocator knows the free memory.
        if not (tf.config.list_physical_devices("GPU") or config.use_tpu):
            there, resolver = (
                costs.machine_memory(),
                trainer.strategy.cluster_resolver,
            )
            if resolver is not None and resolver.task_type:
                there *= resolver.cluster_spec().num_tasks(resolver.task_type)
            if needed > there:
                too_little = f"{message}; {there / 2**30:.1f} GiB are available"
                # The estimate assumes inputs of --max_seq_length. With
                # --trim_padding, shorter inputs need less memory. So only
                # warn, unless even a quarter of the estimate does not fit.
                if not config.trim_padding or needed >= 4 * there:
                    raise ValueError(too_little)
                logging.warning(
                    "If the inputs are as long as --max_seq_length, %s",
                    too_little,
                )
        try:
            yield
        except tf.errors.ResourceExhaustedError as error:
            raise MemoryError(message) from error


def out_of_memory(needed: int, config: TrainingConfig) -> str:
    """Returns an error message about a run that needs `needed` bytes."""
    helping = []
    if config.train_batch_size > 1:
        helping.append(
            "a smaller --train_batch_size with --gradient_accumulation_steps"
        )
    if not config.gradient_checkpointing:
        helping.append("--gradient_checkpointing")
    if config.mixed_precision == "float32":
        helping.append("--mixed_precision=bfloat16")
    helping.append("a smaller --max_seq_length")
    return (
        f"--train_batch_size={config.train_batch_size} needs about "
        f"{needed / 2**30:.1f} GiB of memory; to reduce this, use "
        f"{' or '.join(helping)}"
    )
