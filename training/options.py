"""What the scripts read from their flags, before and beside a Run."""

import os
import tempfile
import zlib

import tensorflow as tf
from absl import logging

import modeling
from training import checkpointing, distribution


def check_tasks(options, names):
    """Refuses a command before any work is done for it.

    Raises:
        ValueError: it asks for nothing, or has no weights to do it with.
        OSError: its checkpoint is not there.
    """
    if not any(getattr(options, name) for name in names):
        listed = " or ".join(f"--{name}" for name in names)
        raise ValueError(f"nothing to do: give {listed}")
    _check_start(options)


def _check_start(options):
    """Refuses a run whose weights would come from nowhere."""
    given = bool(options.init_checkpoint)
    if options.init_from is not None and given != (
        options.init_from == "checkpoint"
    ):
        raise ValueError(
            f"--init_from={options.init_from} contradicts --init_checkpoint="
            f"{options.init_checkpoint}"
        )
    if checkpointing.checkpoint_steps(options.output_dir):
        return
    if given:
        modeling.find_checkpoint(options.init_checkpoint)
    elif not options.do_train:
        raise ValueError(
            f"no checkpoint in --output_dir={options.output_dir} and no "
            "--init_checkpoint: train first, or give one"
        )


def load_config(options, max_seq_length):
    """Returns the model's configuration, checked against the length.

    Raises:
        ValueError: the model has fewer positions than `max_seq_length`.
    """
    config = modeling.load_config(options.bert_config_file)
    if max_seq_length > config.max_position_embeddings:
        raise ValueError(
            f"--max_seq_length={max_seq_length} is more than the model's "
            f"{config.max_position_embeddings} positions "
            f"(max_position_embeddings in {options.bert_config_file}); give "
            "a smaller --max_seq_length"
        )
    return config


def num_steps(options, num_examples):
    """Returns the steps of --num_train_epochs and those of the warmup.

    As in the original, both are rounded down.

    Raises:
        ValueError: there is not one whole step.
    """
    batch_size = update_batch_size(options)
    steps = int(num_examples / batch_size * options.num_train_epochs)
    if not steps:
        raise ValueError(
            f"--num_train_epochs={options.num_train_epochs} of {num_examples} "
            f"examples make no whole step of {batch_size} examples; give a "
            "smaller --train_batch_size or more epochs"
        )
    return steps, int(steps * options.warmup_proportion)


def update_batch_size(options):
    """Returns the number of examples that one update is made from."""
    return options.train_batch_size * options.gradient_accumulation_steps


def create_strategy(options):
    """Returns the strategy that the device flags ask for."""
    strategy = distribution.create_strategy(
        options.distribution_strategy,
        use_tpu=options.use_tpu,
        tpu_name=options.tpu_name,
        tpu_zone=options.tpu_zone,
        gcp_project=options.gcp_project,
        master=options.master,
    )
    cores = strategy.num_replicas_in_sync
    if options.use_tpu and cores != options.num_tpu_cores:
        logging.warning(
            "The TPU has %d cores, --num_tpu_cores=%d; using all it has.",
            cores,
            options.num_tpu_cores,
        )
    return strategy


def is_tpu(options):
    """Returns whether the flags ask for a TPU, which wants fixed shapes."""
    return options.use_tpu or options.distribution_strategy == "tpu"


def trims_padding(options):
    """Returns whether padding is left out: batches cut, the rest unpadded.

    Not where each shape would have the whole network compiled anew.
    """
    return (
        getattr(options, "trim_padding", False)
        and not is_tpu(options)
        and not options.jit_compile
    )


def records_folder(options):
    """Returns where the records go that a script makes of its examples.

    The chief's stay in the output folder; the other workers, which write
    nothing there, make theirs in a temporary one.
    """
    if distribution.is_chief(create_strategy(options)):
        return options.output_dir
    return tempfile.mkdtemp(prefix="records-")


def fingerprint(files):
    """Returns [name, bytes, checksum] of files, to notice another input.

    The checksum is of the first and the last 64 KiB, so that it costs the
    same for files of any size.
    """
    found = []
    for file in files:
        size = tf.io.gfile.stat(file).length
        with tf.io.gfile.GFile(file, "rb") as reader:
            checksum = zlib.crc32(reader.read(1 << 16))
            reader.seek(max(size - (1 << 16), 0))
            checksum = zlib.crc32(reader.read(), checksum)
        found.append([os.path.basename(file), size, checksum])
    return found
