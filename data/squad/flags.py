"""Flags of run_squad.py.

Those of windows and answers fill WindowOptions and DecodingOptions.
"""

import dataclasses

from absl import flags


@dataclasses.dataclass(frozen=True)
class SquadOptions:
    """The task's own flags; those of windows and decoding are apart."""

    train_file: str = ""
    predict_file: str = ""
    version_2_with_negative: bool = False
    num_processes: int = 1
    report: bool = False


def define_task_flags() -> None:
    """Defines the actions, batch size and processes."""
    flags.DEFINE_bool("do_train", False, "Train on --train_file.")
    flags.DEFINE_bool("do_predict", False, "Answer --predict_file.")
    flags.DEFINE_integer(
        "predict_batch_size", 8, "Windows in a batch.", lower_bound=1
    )
    flags.DEFINE_integer(
        "num_processes",
        1,
        "Processes that make the windows of --train_file; the records are the "
        "same for any number.",
        lower_bound=1,
    )
    flags.DEFINE_bool(
        "report",
        False,
        "Write report.html: questions answered right and wrong, with their "
        "passages.",
    )


def define_window_flags() -> None:
    """Defines how questions and passages become windows."""
    flags.DEFINE_integer(
        "max_seq_length", 384, "Length of a window, in WordPieces."
    )
    flags.DEFINE_integer(
        "doc_stride",
        128,
        "WordPieces between the starts of successive windows.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "max_query_length",
        64,
        "Maximum length of the question, in WordPieces.",
        lower_bound=1,
    )
    flags.DEFINE_bool(
        "use_char_offsets",
        False,
        "Locate answers and predictions by character offset; use this for "
        "scripts without spaces, such as Chinese.",
    )


def define_decoding_flags() -> None:
    """Defines how logits become answers."""
    flags.DEFINE_integer(
        "n_best_size",
        20,
        "Number of answers to each question in nbest_predictions.json.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "max_answer_length",
        30,
        "Longest answer, in WordPieces.",
        lower_bound=1,
    )
    flags.DEFINE_bool(
        "version_2_with_negative",
        False,
        "SQuAD v2.0: some questions have no answer.",
    )
    flags.DEFINE_float(
        "null_score_diff_threshold",
        0.0,
        "Predict no answer if its score beats the best answer's by more than "
        "this.",
    )
    flags.DEFINE_bool(
        "verbose_logging", False, "Log answers that cannot be aligned."
    )
