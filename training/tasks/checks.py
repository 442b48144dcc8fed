"""Checks of a command before any work is done for it."""

import os
from collections.abc import Sequence

import modeling
from training import costs
from training.options import (
    DeviceOptions,
    FineTuningOptions,
    PretrainingOptions,
    TrainingOptions,
)
from training.outputs import checkpointing, export, export_formats
from training.steps import distillation


def check_command(options: TrainingOptions) -> None:
    """Refuses a command without an action, or without weights for it.

    Raises:
        ValueError: no action is given, or no source of weights.
        OSError: the checkpoint is missing.
    """
    if not any(getattr(options, action) for action in options.actions):
        flags = [
            f"--{action}"
            for action in options.actions
            if action in options.all_flags
        ]
        raise ValueError(f"nothing to do: give {' or '.join(flags)}")
    if options.lr_schedule == "time" and options.max_hours is None:
        raise ValueError("--lr_schedule=time needs --max_hours, its length")
    if options.export_format != "saved_model" and not options.export_dir:
        raise ValueError(
            f"--export_format={options.export_format} needs --export_dir, the "
            "folder to write"
        )
    _check_start(options)
    check_quantize(options)
    if options.quantize and options.do_train:
        raise ValueError(
            f"--quantize={options.quantize} is for a trained model: train "
            "first, then give the same command without --do_train"
        )
    if options.quantize and options.export_weights:
        raise ValueError(
            "--export_weights cannot be combined with "
            f"--quantize={options.quantize}; export the weights in a separate "
            "command"
        )


def check_model(
    options: PretrainingOptions | FineTuningOptions,
) -> modeling.BertConfig:
    """Checks the model, its teacher, and the folder that it is exported to.

    Returns:
        configuration of the model.

    Raises:
        ValueError: an option contradicts another, or a file.
        OSError: a file is missing, or the folder cannot be written.
    """
    if options.export_dir:
        export.check_export_dir(options.export_dir)
    config = load_config(
        options.bert_config_file,
        options.max_seq_length,
        options.export_seq_length,
    )
    distillation.check_options(options, config)
    return config


def check_quantize(options: DeviceOptions) -> None:
    """Refuses int8 and export formats that are not available.

    Raises:
        ValueError: the model is compiled, or runs on a TPU, or the converter
            of the format is not installed.
    """
    export_formats.check(options)
    if options.quantize_ranges != "dynamic" and not options.quantizes:
        raise ValueError(
            f"--quantize_ranges={options.quantize_ranges} needs "
            "--quantize=int8 and --export_format=saved_model"
        )
    only_exports = options.quantize and not options.quantizes
    if only_exports and options.scores_or_predicts:
        raise ValueError(
            f"--quantize with --export_format={options.export_format} "
            "quantizes only the exported file; evaluate and predict in a "
            "separate command"
        )
    if options.quantize and options.has_fixed_shapes:
        raise ValueError(
            f"--quantize={options.quantize} is for CPUs, without --jit_compile "
            "and --use_tpu"
        )


def _check_start(options: TrainingOptions) -> None:
    """Refuses a run without a source of weights."""
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
    if options.init_checkpoint:
        modeling.find_checkpoint(options.init_checkpoint)
    elif not options.do_train:
        raise ValueError(
            f"no checkpoint in --output_dir={options.output_dir} and no "
            "--init_checkpoint: train first, or give one"
        )


def check_labels_of_start(
    options: TrainingOptions, labels: Sequence[str]
) -> None:
    """Refuses to train in the folder of a model with other labels.

    The new labels would replace the model's.

    Raises:
        ValueError: --init_checkpoint is in --output_dir and has other labels.
    """
    start, folder = options.init_checkpoint, options.output_dir
    if not start or not os.path.isdir(folder):
        return
    if checkpointing.checkpoint_steps(folder):
        return
    if not os.path.isdir(start):
        start = os.path.dirname(start) or "."
    if os.path.isdir(start) and os.path.samefile(start, folder):
        found = modeling.load_labels(start)
        if found and found != list(labels):
            raise ValueError(
                f"--output_dir={folder} holds the model of --init_checkpoint, "
                f"which has the labels {found}; they would be overwritten; "
                "use another --output_dir"
            )


def load_config(
    bert_config_file: str,
    max_seq_length: int,
    export_seq_length: int | None = None,
) -> modeling.BertConfig:
    """Returns the model's configuration, checked against lengths and memory.

    Raises:
        ValueError: the model has fewer positions than one of the lengths, or
            more weights than this machine's memory can hold.
    """
    config = modeling.load_config(bert_config_file)
    needed, there = 4 * config.num_parameters, costs.machine_memory()
    if needed > there:
        raise ValueError(
            f"{bert_config_file}: the weights of this model alone take "
            f"{needed / 2**30:,.1f} GiB, and there are {there / 2**30:.1f} "
            f"GiB of memory; are its sizes right? vocab_size="
            f"{config.vocab_size}, hidden_size={config.hidden_size}, "
            f"num_hidden_layers={config.num_hidden_layers}, intermediate_size="
            f"{config.intermediate_size}, max_position_embeddings="
            f"{config.max_position_embeddings}, type_vocab_size="
            f"{config.type_vocab_size}"
        )
    for name, length in (
        ("max_seq_length", max_seq_length),
        ("export_seq_length", export_seq_length or 0),
    ):
        if length > config.max_position_embeddings:
            raise ValueError(
                f"--{name}={length} is more than the model's "
                f"{config.max_position_embeddings} positions "
                f"(max_position_embeddings in {bert_config_file}); give "
                f"a smaller --{name}"
            )
    return config
