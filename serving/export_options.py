"""The options of an export, which `serving.export` takes."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from data.text.tokenization import FullTokenizer
from files.paths import StrPath
from model_folders.reading.preset import Preset
from serving.engines import ExportFormat

if TYPE_CHECKING:
    from data.text.packing_layer import PackingLayer


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of an export that do not depend on the kind of the model.

    Attributes:
        tokenizer: tokenizer of the model. None exports only the signature
            `ids`.
        max_seq_length: maximum number of WordPieces in an input or a window.
        predict_batch_size: maximum number of inputs in one batch of the
            network, to limit the memory of a large request.
        formats: formats of the network to write.
        fixed_length: fixed length of inputs in formats other than
            "saved_model". None allows any length.
        quantize: "int8" to quantize formats other than "saved_model", or None.
        weights: checkpoint or folder of the weights, or the Preset of this
            folder. The folder's model.json becomes part of the export's
            model.json. None if the weights come from no folder.
    """

    tokenizer: FullTokenizer | None = None
    max_seq_length: int = 128
    predict_batch_size: int = 32
    formats: Sequence[ExportFormat] = ("saved_model",)
    fixed_length: int | None = None
    quantize: Literal["int8"] | None = None
    weights: StrPath | Preset | None = None

    def __post_init__(self) -> None:
        """Checks that all engines of the export tokenize alike."""
        if self.tokenizer and self.tokenizer.special_words:
            raise ValueError(
                "an export tokenizes as Google's code, which splits [MASK] "
                "and other special tokens in a text. Create the tokenizer "
                "without special_tokens_in_strings"
            )

    @functools.cached_property
    def packing(self) -> "PackingLayer":
        """The layer that turns texts into padded inputs of the network."""
        # Imported late, because a layer needs TensorFlow, which loads slowly.
        from data.text.packing_layer import PackingLayer

        assert self.tokenizer
        return PackingLayer(self.tokenizer.layer, self.max_seq_length)
