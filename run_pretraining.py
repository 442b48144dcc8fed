"""Pretrains BERT: masked language model and next sentence prediction.

Reads the TFRecords of create_pretraining_data.py. Training resumes from the
newest checkpoint of --output_dir, if there is one.
"""

from collections.abc import Sequence

from absl import flags

import serving
from data.pretraining import flags as pretraining_flags
from data.text import tokenization
from files import paths
from training.command_line import cli
from training.command_line import flags as common_flags
from training.options import PretrainingOptions


def define_flags() -> None:
    """Defines the original's flags, and those this project adds."""
    common_flags.define_model_flags()
    common_flags.define_training_flags(learning_rate=5e-5)
    common_flags.define_padding_flag(trim_padding=False)
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    cli.define_path(
        "input_file",
        paths.Kind.INPUT_FILES,
        "TFRecord files: comma-separated paths or globs.",
    )
    cli.define_path(
        "output_dir",
        paths.Kind.RUN_FOLDER,
        "Folder for checkpoints and results.",
    )
    flags.DEFINE_integer(
        "max_seq_length",
        128,
        "Length of the records' sequences, in WordPieces.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "max_predictions_per_seq",
        20,
        "Masked positions in a record.",
        lower_bound=1,
    )
    _define_masking_flags()
    _define_evaluation_flags()
    flags.DEFINE_bool(
        "next_sentence",
        True,
        "Also train on next sentence prediction; without it, the paper's "
        "ablation No NSP.",
    )
    common_flags.define_left_to_right_flag()
    flags.DEFINE_bool("do_train", False, "Train on --input_file.")
    flags.DEFINE_integer(
        "num_train_steps", 100000, "Steps of training.", lower_bound=1
    )
    flags.DEFINE_integer(
        "num_warmup_steps", 10000, "Steps of warmup.", lower_bound=0
    )
    flags.DEFINE_string(
        "batch_size_warmup",
        None,
        "Start with smaller batches: SIZE:STEP,SIZE:STEP, such as "
        "32:10000,64:20000 for 32 examples until step 10000, 64 until step "
        "20000, then --train_batch_size.",
    )


def _define_masking_flags() -> None:
    """Defines the flags for records made with --dynamic_masking."""
    cli.define_path(
        "vocab_file",
        paths.Kind.INPUT_FILE,
        "The records' vocabulary; needed for records without masks, for an "
        "export that takes text, and for text in TensorBoard.",
    )
    flags.DEFINE_bool(
        "do_lower_case",
        True,
        "Whether the export lower-cases text; give the value that the records "
        "were made with.",
    )
    pretraining_flags.define_masking_flags(", in records without masks")
    flags.DEFINE_bool(
        "whole_word_draw",
        False,
        "Decide once for each word, not for each WordPiece, whether it becomes "
        "[MASK], stays as it is, or becomes a random word, in "
        "records without masks.",
    )


def _define_evaluation_flags() -> None:
    """Defines the flags of evaluation, while training and after it."""
    flags.DEFINE_bool(
        "do_eval",
        False,
        "Evaluate on --eval_input_file, or without it on --input_file.",
    )
    cli.define_path(
        "eval_input_file",
        paths.Kind.INPUT_FILES,
        "TFRecord files held out from training, evaluated while training "
        "every --eval_steps and by --do_eval; without them --do_eval uses "
        "--input_file, as in the original.",
    )
    flags.DEFINE_integer(
        "eval_steps",
        1000,
        "Steps between evaluations on --eval_input_file.",
        lower_bound=1,
    )
    flags.DEFINE_float(
        "target_accuracy",
        None,
        "Log the step and time at which the masked LM accuracy on "
        "--eval_input_file first reaches this; also in summary.json.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_integer(
        "eval_batch_size", 8, "Examples in an eval batch.", lower_bound=1
    )
    flags.DEFINE_integer(
        "max_eval_steps",
        100,
        "Maximum number of batches to evaluate.",
        lower_bound=1,
    )


def main(_: Sequence[str]) -> None:
    """Trains, evaluates and exports as the flags say."""
    # It loads TensorFlow, which --help and wrong flags do not wait for.
    from training.steps import distribution
    from training.tasks import pretraining

    options = common_flags.read(PretrainingOptions)
    distribution.pack_weights(options)
    config = pretraining.check_options(options)
    if options.vocab_file:
        tokenization.check_vocab(options.vocab_file, config.vocab_size)
    run = pretraining.run(options, config)
    if run is None:
        return
    if options.export_dir:
        serving.export_pretrainer(
            options.export_dir,
            run.model,
            common_flags.read(serving.ServingOptions)
            if options.vocab_file
            else None,
            export_options=options,
        )
    run.finish()


def command() -> None:
    """Runs the script as a command."""
    cli.run(
        main, define_flags, ("bert_config_file", "input_file", "output_dir")
    )


if __name__ == "__main__":
    command()
