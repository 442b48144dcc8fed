"""Flags that several scripts share, under the original's names and defaults.

Each function defines flags when a script calls it, never on import, so that
the scripts can be imported together.
"""

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from absl import flags

from files import paths
from training import options
from training.command_line import cli, distillation_flags, optimizer_flags

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")


def read(kind: type[Options]) -> Options:
    """Returns the parsed flags as options of a kind.

    Fields without a flag in the script, or whose flag has no value, keep their
    defaults.
    """
    given: dict[str, Any] = {
        field.name: flags.FLAGS[field.name].value
        for field in dataclasses.fields(kind)
        if field.name in flags.FLAGS
        and (
            flags.FLAGS[field.name].value is not None
            or field.default is dataclasses.MISSING
        )
    }
    if "predict_batch_size" in given and "eval_batch_size" not in flags.FLAGS:
        # As in the original, SQuAD has one batch size for both.
        given["eval_batch_size"] = given["predict_batch_size"]
    if issubclass(kind, options.TrainingOptions):
        given["export_dir"] = cli.export_folder(flags.FLAGS)
        own = flags.FLAGS.get_key_flags_for_module(sys.argv[0])
        given["all_flags"] = {flag.name: flag.value for flag in own}
        given["given_flags"] = {
            flag.name: flag.value for flag in own if flag.present
        }
    return kind(**given)


def define_all_fine_tuning_flags(learning_rate: float) -> None:
    """Defines all flags that the fine-tuning scripts share."""
    define_model_flags()
    define_text_flags()
    define_task_flags()
    define_training_flags(learning_rate)
    define_fine_tuning_flags()
    define_device_flags()
    define_export_flags()


def define_model_flags() -> None:
    """Defines the model's configuration and initial checkpoint."""
    cli.define_path(
        "bert_config_file",
        paths.Kind.MODEL,
        "JSON file of the model's architecture; a Hugging Face config.json "
        "is read as well.",
    )
    cli.define_path(
        "init_checkpoint",
        paths.Kind.MODEL,
        "Checkpoint to start from: the prefix of a TF1 checkpoint "
        "(bert_model.ckpt), or a Hugging Face folder or .safetensors file.",
    )


def define_text_flags() -> None:
    """Defines how text is tokenized."""
    cli.define_path(
        "vocab_file",
        paths.Kind.INPUT_FILE,
        "The vocabulary the model was trained on.",
    )
    flags.DEFINE_bool(
        "do_lower_case",
        True,
        "Lower-case the text: True for uncased models, False for cased ones.",
    )


def define_corpus_flag() -> None:
    """Defines the raw text that a script reads."""
    cli.define_path(
        "input_file",
        paths.Kind.INPUT_FILES,
        "Text files to read, comma-separated paths or patterns; .gz too.",
    )


def define_training_flags(
    learning_rate: float, save_checkpoints_steps: int = 1000
) -> None:
    """Defines how the model is trained."""
    flags.DEFINE_integer(
        "train_batch_size", 32, "Examples in a training batch.", lower_bound=1
    )
    flags.DEFINE_float(
        "learning_rate", learning_rate, "Peak learning rate.", lower_bound=0.0
    )
    _define_saving_flags(save_checkpoints_steps)
    flags.DEFINE_integer(
        "seed",
        12345,
        "Seed of initialization, dropout and data order.",
        lower_bound=0,
        upper_bound=2**32 - 1,
    )
    cli.define_path(
        "export_weights",
        paths.Kind.MODEL_OUTPUT,
        "Write the weights without the optimizer's slots, a third of the "
        "size: to a folder laid out like the original's releases, or to a "
        "prefix that ends in .ckpt.",
    )
    flags.DEFINE_bool(
        "deterministic",
        False,
        "Use only deterministic operations.",
    )
    _define_memory_flags()
    flags.DEFINE_enum(
        "init_from",
        None,
        ["scratch", "checkpoint"],
        "Start a new run from random weights or from --init_checkpoint (the "
        "default if given). Checkpoints in --output_dir take precedence.",
    )
    optimizer_flags.define()
    distillation_flags.define()
    flags.DEFINE_integer(
        "max_nonfinite_steps",
        10,
        "Stop after this many consecutive steps with a non-finite loss or "
        "gradient; such steps are skipped.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "summary_steps",
        100,
        "Steps between TensorBoard entries; 0 disables them.",
        lower_bound=0,
    )


def _define_saving_flags(save_checkpoints_steps: int) -> None:
    """Defines when checkpoints are saved, and how many are kept."""
    flags.DEFINE_integer(
        "save_checkpoints_steps",
        save_checkpoints_steps,
        "Steps between checkpoints.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "keep_checkpoint_max",
        5,
        "Number of newest checkpoints to keep; 0 keeps all.",
        lower_bound=0,
    )
    flags.DEFINE_integer(
        "iterations_per_loop",
        1000,
        "On a TPU, steps between returns to the host.",
        lower_bound=1,
    )


def _define_memory_flags() -> None:
    """Defines how large batches fit into memory."""
    flags.DEFINE_integer(
        "gradient_accumulation_steps",
        1,
        "Batches of --train_batch_size that make one update.",
        lower_bound=1,
        upper_bound=2**31 - 1,
    )
    flags.DEFINE_bool(
        "gradient_checkpointing",
        False,
        "Recompute activations in the backward pass: less memory, about a "
        "third more time.",
    )


def define_fine_tuning_flags(trim_padding: bool = True) -> None:
    """Defines how long a task is trained, and when to stop."""
    flags.DEFINE_float(
        "num_train_epochs",
        3.0,
        "Epochs of training.",
        lower_bound=0.0,
        upper_bound=1e9,
    )
    flags.DEFINE_float(
        "warmup_proportion",
        0.1,
        "Fraction of the steps used for warmup, 0.1 = 10%.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    _define_best_flags()
    cli.define_path(
        "ensemble",
        paths.Kind.MODELS,
        "Evaluate and predict with several trained models at once: the "
        "--output_dir of each, comma-separated. Their probabilities are "
        "averaged.",
    )
    define_padding_flag(trim_padding)
    define_left_to_right_flag()
    flags.DEFINE_bool(
        "bilstm",
        False,
        "Put a bidirectional LSTM with new weights between the network and "
        "the task's head, as the paper does for left-to-right models.",
    )


def _define_best_flags() -> None:
    """Defines which of several runs and steps is kept."""
    flags.DEFINE_integer(
        "num_train_runs",
        1,
        "Train this many times with different seeds, in the folders run_1, "
        "run_2 ... of --output_dir; report mean and deviation, and keep the "
        "best run on the dev set in --output_dir.",
        lower_bound=1,
    )
    flags.DEFINE_bool(
        "evaluate_each_epoch",
        False,
        "Evaluate after each epoch of training, and keep the best weights in "
        "the folder `best` of --output_dir.",
    )
    flags.DEFINE_integer(
        "early_stopping_patience",
        0,
        "Evaluate after each epoch, and stop after this many evaluations "
        "without improvement; 0 disables it.",
        lower_bound=0,
    )
    flags.DEFINE_string(
        "metric_for_best",
        None,
        "Metric that chooses the best step and the best run; by default "
        "the task's main metric. eval_loss is lower-is-better.",
    )
    flags.DEFINE_bool(
        "load_best",
        True,
        "Evaluate, predict and export with the best step, if training "
        "evaluated any; with --noload_best use the last step.",
    )


def define_left_to_right_flag() -> None:
    """Defines whether attention is limited to earlier positions."""
    flags.DEFINE_bool(
        "left_to_right",
        False,
        "Let each WordPiece attend only to itself and those before it, as in "
        "the paper's ablation LTR. The last WordPiece is pooled, not [CLS].",
    )


def define_padding_flag(trim_padding: bool) -> None:
    """Defines whether padding is skipped."""
    flags.DEFINE_bool(
        "trim_padding",
        trim_padding,
        "Skip padding: cut batches to their longest input and, in training, "
        "pack short inputs for attention. Ignored on a TPU and with "
        "--jit_compile. Results change only by rounding, except in SQuAD, "
        "where the original lets padding compete with the answer, in the loss "
        "and among the n best.",
    )


def define_task_flags() -> None:
    """Defines a task's folders, actions and batch sizes."""
    cli.define_path(
        "data_dir", paths.Kind.DATA_FOLDER, "Folder of the task's files."
    )
    cli.define_path(
        "output_dir",
        paths.Kind.RUN_FOLDER,
        "Folder for checkpoints, records and results.",
    )
    flags.DEFINE_integer(
        "max_seq_length",
        128,
        "Longest input in WordPieces; longer ones are cut, shorter padded.",
        lower_bound=3,
    )
    flags.DEFINE_bool("do_train", False, "Train on the train set.")
    flags.DEFINE_bool("do_eval", False, "Evaluate on the dev set.")
    flags.DEFINE_bool("do_predict", False, "Predict the test set.")
    flags.DEFINE_integer(
        "eval_batch_size", 8, "Examples in an eval batch.", lower_bound=1
    )
    flags.DEFINE_integer(
        "predict_batch_size", 8, "Examples in a test batch.", lower_bound=1
    )


def define_device_flags() -> None:
    """Defines the devices and the precision of the computation."""
    flags.DEFINE_enum(
        "distribution_strategy",
        None,
        options.STRATEGIES,
        "Distribution strategy; by default chosen from TF_CONFIG and the "
        "available devices.",
    )
    flags.DEFINE_enum(
        "mixed_precision",
        "float32",
        options.PRECISIONS,
        "Precision of the computation; variables stay float32.",
    )
    flags.DEFINE_enum(
        "quantize",
        None,
        options.QUANTIZATIONS,
        "Evaluate, predict and export a trained model in int8, on a CPU. "
        "Layers that lose too much accuracy are kept as they are; the log "
        "names them.",
    )
    flags.DEFINE_enum(
        "quantize_ranges",
        "dynamic",
        options.QUANTIZE_RANGES,
        "dynamic: measure each row's range at run time. static: use ranges "
        "measured on the dev set, which is faster.",
    )
    flags.DEFINE_bool(
        "jit_compile",
        False,
        "Compile the network with XLA, for GPUs and TPUs; slower on a CPU.",
    )
    flags.DEFINE_bool("use_tpu", False, "Run on a TPU.")
    flags.DEFINE_string("tpu_name", None, "Name or grpc address of the TPU.")
    flags.DEFINE_string("tpu_zone", None, "Zone of the TPU.")
    flags.DEFINE_string("gcp_project", None, "Project of the TPU.")
    flags.DEFINE_string(
        "master", None, "Address of the TPU, if --tpu_name is not given."
    )
    flags.DEFINE_integer(
        "num_tpu_cores",
        8,
        "Expected number of TPU cores; a warning is logged if it differs.",
    )


def define_export_flags() -> None:
    """Defines where a model is exported."""
    cli.define_path(
        "export_dir",
        paths.Kind.EXPORT_FOLDER,
        "Write a SavedModel for serving to this folder.",
    )
    flags.DEFINE_enum(
        "export_format",
        "saved_model",
        options.EXPORT_FORMATS,
        "What --export_dir holds. All formats but saved_model take token ids; "
        "the tokenizer files are saved next to the model.",
    )
    flags.DEFINE_integer(
        "export_seq_length",
        None,
        "Input length in formats other than saved_model; by default any, but "
        "onnx needs one.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "export_version",
        None,
        "Write to the subfolder of this number in --export_dir, where "
        "TensorFlow Serving looks for versions.",
        lower_bound=1,
    )
