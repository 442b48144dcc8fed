"""Defines the options for reading windows and for choosing answers."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from model_folders.head_settings import SpanLabelerSettings
from options import fields


@dataclasses.dataclass(frozen=True)
class WindowOptions:
    """Options for cutting questions and passages into windows.

    Raises:
        ValueError: windows are too short to contain a question of the maximum
            length and a WordPiece of the passage.
    """

    max_seq_length: int = fields.head_option(
        384, "Length of a window (question and passage), in WordPieces."
    )
    doc_stride: int = fields.head_option(
        128, "WordPieces between the starts of successive windows.", at_least=1
    )
    max_query_length: int = fields.head_option(
        64, "Maximum length of the question, in WordPieces.", at_least=1
    )
    use_char_offsets: bool = fields.head_option(
        False,
        "Locate right and predicted answers by their characters, not by words, "
        "for languages without spaces between words, such as Chinese.",
    )

    def __post_init__(self) -> None:
        """Checks the length of the windows."""
        if self.max_seq_length <= self.max_query_length + 3:
            raise ValueError(
                f"--max_seq_length={self.max_seq_length} must be more than "
                f"--max_query_length={self.max_query_length} + 3, to leave "
                "room for the passage"
            )


@dataclasses.dataclass(frozen=True)
class DecodingOptions:
    """Options for choosing answers from the start and end logits."""

    n_best_size: int = fields.decoding_option(
        20,
        "Number of answers to each question in nbest_predictions.json.",
        at_least=1,
    )
    max_answer_length: int = fields.decoding_option(
        30, "Maximum length of an answer, in WordPieces.", at_least=1
    )
    version_2_with_negative: bool = fields.head_option(
        False, "Use SQuAD v2.0, where some questions have no answer."
    )
    null_score_diff_threshold: float = fields.decoding_option(
        0.0,
        "Predict no answer if the score of no answer exceeds the score of the "
        "best answer by more than this number.",
    )
    verbose_logging: bool = fields.neutral_option(
        False, "Log answers that cannot be mapped to the passage's spelling."
    )
    # Whether to ignore the logits at padding. Google's code uses them.
    trim_padding: bool = False


OptionsT = TypeVar("OptionsT", WindowOptions, DecodingOptions)


def to_settings(
    window_options: WindowOptions, decoding_options: DecodingOptions
) -> SpanLabelerSettings:
    """Returns the options as an export records them in model.json."""
    return {
        "max_seq_length": window_options.max_seq_length,
        "doc_stride": window_options.doc_stride,
        "max_query_length": window_options.max_query_length,
        "use_char_offsets": window_options.use_char_offsets,
        "n_best_size": decoding_options.n_best_size,
        "max_answer_length": decoding_options.max_answer_length,
        "version_2_with_negative": decoding_options.version_2_with_negative,
        "null_score_diff_threshold": decoding_options.null_score_diff_threshold,
        "verbose_logging": decoding_options.verbose_logging,
        "trim_padding": decoding_options.trim_padding,
    }


def parse_options(
    options_class: type[OptionsT], head_settings: Mapping[str, Any]
) -> OptionsT:
    """Returns the options that an export recorded.

    A field that the settings lack has its default. Other settings are ignored.

    Args:
        options_class: WindowOptions or DecodingOptions.
        head_settings: settings of a span labeler, as `to_settings` returns
            them.
    """
    # Any, because the options have different types, and `to_settings` wrote
    # them.
    names = {field.name for field in dataclasses.fields(options_class)}
    return options_class(
        **{
            name: value
            for name, value in head_settings.items()
            if name in names
        }
    )
