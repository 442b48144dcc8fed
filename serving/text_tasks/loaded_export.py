"""A loaded export as text tasks read it: its engine, its tokenizer, its head.

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
class LoadedExport(Generic[HeadT_co]):
    """An export that accepts text, in memory.

    `ask` in asking.py runs the engine on the inputs that a text task encodes.

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

    def batch_limits(self, values_per_wordpiece: int = 1) -> BatchLimits:
        """Returns the limits of the engine's batches for this model.

        `values_per_wordpiece` is the number of values that the network outputs
        for each WordPiece.
        """
        return self.engine.batch_limits(
            self.max_seq_length,
            trims_padding=self.trims_padding,
            values_per_wordpiece=values_per_wordpiece,
        )


# A loaded export, for functions that read nothing of its head.
AnyLoadedExport: TypeAlias = LoadedExport[object]
