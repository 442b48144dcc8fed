"""The loaded model that text tasks read: a network with its tokenizer.

`read_export` in export_reading.py creates it.
"""

import dataclasses
from typing import Generic, TypeAlias, TypeVar

from data.text.tokenization import FullTokenizer
from serving.engines import BatchLimits, Engine

# What text tasks must know of the head of a model, such as a `ClassifierHead`.
# None for a model whose text tasks need not know its head.
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
