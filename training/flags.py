"""Flags that several scripts share, under the original's names and defaults.

Each function defines flags when a script calls it, never on import, so that
the scripts can be imported together.
"""

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from absl import flags

from files import paths
from training import cli, distillation_flags, optimizer_flags, options

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")


def read(kind: type[Options]) -> Options:
    """Returns the parsed flags as options of a kind.

    What has no flag in the script, or a flag without a value, keeps its
    default.
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
        # SQuAD has one batch size for both, as the original.
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
    """Defines all flags that the scripts of tasks share."""
    define_model_flags()
    define_text_flags()
    define_task_flags()
    define_training_flags(learning_rate)
    define_fine_tuning_flags()
    define_device_flags()
    define_export_flags()


def define_model_flags() -> None:
    """Defines which model to build and where it starts from."""
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
    flags.DEFINE_integer(
        "save_checkpoints_steps",
        save_checkpoints_steps,
        "Steps between two checkpoints.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "keep_checkpoint_max",
        5,
        "Number of the newest checkpoints to keep; 0 for all.",
        lower_bound=0,
    )
    flags.DEFINE_integer(
        "iterations_per_loop",
        1000,
        "On a TPU, steps between two returns to the host.",
        lower_bound=1,
    )
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
        "size: to a folder, as the original's releases are laid out, or to a "
        "prefix that ends in .ckpt.",
    )
    flags.DEFINE_bool(
        "deterministic",
        False,
        "Use only operations that give the same bits every time.",
    )
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
        "Keep less for the backward pass and recompute the rest: less memory, "
        "about a third more time.",
    )
    flags.DEFINE_enum(
        "init_from",
        None,
        ["scratch", "checkpoint"],
        "Where a new run starts from: random weights or --init_checkpoint; by "
        "default the latter where it is given. A run that has checkpoints in "
        "--output_dir resumes from there in either case.",
    )
    optimizer_flags.define()
    distillation_flags.define()
    flags.DEFINE_integer(
        "max_nonfinite_steps",
        10,
        "End after this many steps in a row without a finite loss and "
        "gradient; each of them is skipped.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "summary_steps",
        100,
        "Steps between two entries for TensorBoard; 0 for none.",
        lower_bound=0,
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
        "Share of the steps to warm up in, 0.1 = 10%.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_integer(
        "num_train_runs",
        1,
        "Train this many times with other seeds, in the folders run_1, "
        "run_2 ... of --output_dir; report mean and deviation, and keep the "
        "best on the dev set in --output_dir.",
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
        "Evaluate after each epoch, and end after this many without a better "
        "evaluation; 0 for never.",
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


def define_left_to_right_flag() -> None:
    """Defines whether positions attend to those that follow."""
    flags.DEFINE_bool(
        "left_to_right",
        False,
        "Let each WordPiece attend to itself and those before it only, as the "
        "paper's ablation LTR does. The last WordPiece is pooled, not [CLS].",
    )


def define_padding_flag(trim_padding: bool) -> None:
    """Defines whether padding is computed."""
    flags.DEFINE_bool(
        "trim_padding",
        trim_padding,
        "Leave padding out: cut each batch to its longest input, compute only "
        "WordPieces, and in training pack short inputs for attention, which "
        "saves time; not done on a TPU or with "
        "--jit_compile, which need one shape. Nothing changes but rounding, "
        "except in SQuAD, where the original lets padding compete with the "
        "answer, in the loss and among the n best.",
    )


def define_task_flags() -> None:
    """Defines a task's folders, what to do with it, and in which batches."""
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
    """Defines where and in what precision the model runs."""
    flags.DEFINE_enum(
        "distribution_strategy",
        None,
        options.STRATEGIES,
        "Where to train; by default what the machine offers.",
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
        "Layers that lose too much stay as they are; the log names them.",
    )
    flags.DEFINE_enum(
        "quantize_ranges",
        "dynamic",
        options.QUANTIZE_RANGES,
        "dynamic: the range of each row of a layer's inputs is found when it "
        "comes. static: the range on the dev set is kept, which saves time.",
    )
    flags.DEFINE_bool(
        "jit_compile", False, "Compile the network by XLA; rarely pays on CPU."
    )
    flags.DEFINE_bool("use_tpu", False, "Run on a TPU.")
    flags.DEFINE_string("tpu_name", None, "Name or grpc address of the TPU.")
    flags.DEFINE_string("tpu_zone", None, "Zone of the TPU.")
    flags.DEFINE_string("gcp_project", None, "Project of the TPU.")
    flags.DEFINE_string(
        "master", None, "Address of the TPU, where no --tpu_name is given."
    )
    flags.DEFINE_integer(
        "num_tpu_cores", 8, "Cores of the TPU; checked against what it has."
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
        "What --export_dir holds. Other formats than saved_model take ids, and "
        "the files to make them from text lie next to the model.",
    )
    flags.DEFINE_integer(
        "export_seq_length",
        None,
        "Length of the inputs of the other formats; by default any, but onnx "
        "needs one.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "export_version",
        None,
        "Write to the folder of this number in --export_dir, as TensorFlow "
        "Serving looks for the versions of a model.",
        lower_bound=1,
    )
