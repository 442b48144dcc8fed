"""Estimates training's operations and memory, and measures a device's speed."""

import os
import resource
import sys
import time
from pathlib import Path

import keras
import tensorflow as tf

from modeling.config import BertConfig
from training.config import TrainingConfig

# Bytes that TensorFlow and its graphs need without any weights.
_RUNTIME_MEMORY = 1 << 30
# Fields of BertConfig that determine the size of the weights.
_SIZES = (
    *("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size"),
    *("max_position_embeddings", "type_vocab_size"),
)
# Maximum number of blocks. No published model contains more, and a larger
# number is probably an error in the configuration.
_MOST_BLOCKS = 1_000
# Sizes of the square matrices that are multiplied to measure the speed of an
# accelerator and of a CPU. Smaller matrices would not reach the full speed.
_PRODUCT_SIZE, _CPU_PRODUCT_SIZE = 2048, 1024


def check_sizes(config: BertConfig, file: str | os.PathLike[str]) -> None:
    """Checks that this machine can build a model.

    Args:
        config: the model's configuration.
        file: file of the configuration, for error messages.

    Raises:
        ValueError: the model has too many blocks, or more weights than fit
            into this machine's memory.
    """
    needed, there = 4 * config.num_parameters, machine_memory()
    sizes = ", ".join(f"{name}={getattr(config, name)}" for name in _SIZES)
    if needed > there:
        raise ValueError(
            f"{file}: the weights of this model need "
            f"{needed / 2**30:,.1f} GiB, and this machine has "
            f"{there / 2**30:.1f} GiB of memory; check the sizes: {sizes}"
        )
    if config.num_hidden_layers > _MOST_BLOCKS:
        raise ValueError(
            f"{file}: a model of more than {_MOST_BLOCKS} blocks needs "
            f"minutes to build; check the sizes: {sizes}"
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


def training_memory(
    model: keras.Model,
    config: TrainingConfig,
    max_seq_length: int,
    num_predictions: int,
) -> int:
    """Estimates the bytes that training needs, over all devices.

    The estimate is right within a factor of two. It is the sum of:

    - TensorFlow itself: 1 GiB.
    - The weights, their gradients and two optimizer slots: 4 bytes for each
      number.
    - The activations that the backward pass needs. Each WordPiece in each block
      needs about 18 vectors of the hidden size, 3 of the intermediate size, and
      for each head 4 vectors of the sequence length (Korthikanti et al. 2022).
    - The masked LM's logits and their gradient.
    """
    bert = model.config
    num_bytes = 4 if config.mixed_precision == "float32" else 2
    tokens = config.train_batch_size * max_seq_length
    block = (
        18 * bert.hidden_size
        + 3 * bert.intermediate_size
        + 4 * bert.num_attention_heads * max_seq_length
    )
    kept = bert.num_hidden_layers * block
    if config.gradient_checkpointing:
        # Only the input of every block, and all activations of one block, stay
        # in memory.
        kept = bert.num_hidden_layers * bert.hidden_size + block
    predictions = config.train_batch_size * num_predictions
    logits = 2 * num_bytes * predictions * bert.vocab_size
    state = 16 * model.count_params()
    return _RUNTIME_MEMORY + state + num_bytes * tokens * kept + logits


def machine_memory() -> int:
    """Returns the memory of this machine or container in bytes."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file() and (text := limit.read_text().strip()).isdigit():
        return min(there, int(text))
    return there


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


def peak_memory() -> int:
    """Returns the peak memory of the first GPU in bytes.

    Without a GPU, returns the peak memory of this process.
    """
    if tf.config.list_physical_devices("GPU"):
        return tf.config.experimental.get_memory_info("GPU:0")["peak"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return peak if sys.platform == "darwin" else peak * 1024
