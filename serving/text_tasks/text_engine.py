"""Joins an engine with the tokenizer and settings that text tasks read."""

import dataclasses
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from data.text.tokenization import FullTokenizer
from model_folders.model_json import HeadSettings
from serving.engines import BatchLimits, Engine

# What text tasks must know of the head of a model, such as a `ClassifierHead`.
# None for a model whose text tasks need not know its head.
HeadT = TypeVar("HeadT")
HeadT_co = TypeVar("HeadT_co", covariant=True)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TextEngine(Generic[HeadT_co]):
    """The engine of an export, with the tokenizer and settings for text tasks.

    A `ModelAsker` runs the engine on the inputs that a text task encodes.

    Attributes:
        engine: the engine that runs the network.
        tokenizer: tokenizer of the model.
        max_seq_length: maximum number of WordPieces in an input.
        trims_padding: whether inputs are padded no further than their batch
            needs. If False, all are padded to `max_seq_length`.
        head: what the text tasks of one kind of models know of its head, such
            as the labels.
    """

    engine: Engine
    tokenizer: FullTokenizer
    max_seq_length: int
    trims_padding: bool = True
    head: HeadT_co

    def batch_limits(self, values_per_token: int = 1) -> BatchLimits:
        """Returns the limits of the engine's batches for this model.

        `values_per_token` is the number of values that the network outputs for
        each WordPiece.
        """
        return self.engine.batch_limits(
            self.max_seq_length,
            trims_padding=self.trims_padding,
            values_per_token=values_per_token,
        )


# A text engine, for functions that read nothing of its head.
AnyTextEngine: TypeAlias = TextEngine[object]


def create_text_engine(
    engine: Engine,
    tokenizer: FullTokenizer,
    head_settings: HeadSettings,
    parse_head: Callable[[HeadSettings], HeadT],
) -> TextEngine[HeadT]:
    """Returns a TextEngine whose inputs are as long as its engine accepts.

    Args:
        engine: engine that runs the network.
        tokenizer: tokenizer of the model.
        head_settings: settings of the head, which `check_head_settings` has
            checked. If the length of the engine's inputs is fixed,
            `max_seq_length` of the TextEngine is at most this length.
        parse_head: function that returns the head. The settings that it gets
            contain the `max_seq_length` of the TextEngine.

    Raises:
        ValueError: the inputs are too short for the windows of a span labeler.
    """
    fixed = engine.inputs["input_ids"][-1]
    max_seq_length = min(filter(None, (head_settings["max_seq_length"], fixed)))
    return TextEngine(
        engine=engine,
        tokenizer=tokenizer,
        max_seq_length=max_seq_length,
        # Google's script pads the windows of SQuAD, and padding is a candidate
        # for an answer.
        trims_padding=head_settings.get("trim_padding") is not False,
        head=parse_head({**head_settings, "max_seq_length": max_seq_length}),
    )
