"""Options of an export, for Python code and for the users of scripts.

Code that exports a model turns `ExportFormatOptions` into `ExportOptions`, and
adds what no flag states, such as the tokenizer.
"""

import dataclasses
import functools
import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from data.text.tokenization import FullTokenizer
from dependencies.installation import install_command
from exporting.export_formats import EXPORT_FORMATS, ExportFormat
from model_folders.reading.preset import PathOrPreset
from options import fields
from options.fields import PathType

if TYPE_CHECKING:
    from data.text.packing_graph import PackingLayer


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
    weights: PathOrPreset | None = None

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
        from data.text.packing_graph import PackingLayer

        assert self.tokenizer
        return PackingLayer(self.tokenizer.layer, self.max_seq_length)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportFormatOptions:
    """Flags of an export: its folder and its format."""

    export_dir: str | None = fields.neutral_option(
        None,
        "Export the model for serving to this folder, such as models/mrpc/1 "
        "for TensorFlow Serving, which looks for numbered folders.",
        path_type=PathType.NEW_FOLDER,
    )
    export_format: str | None = fields.neutral_option(
        None,
        "Format of the export: saved_model, litert or onnx, or several of "
        "them, separated by commas. Only a saved_model can read text. The "
        "others read token ids, and the tokenizer's files are saved beside "
        "them. The default is saved_model, or litert with --quantize.",
    )
    export_seq_length: int | None = fields.neutral_option(
        None,
        "Fixed input length of exports in formats other than saved_model. By "
        "default, inputs may have any length.",
        at_least=3,
    )
    quantize: Literal["int8"] | None = fields.neutral_option(
        None,
        "Quantize LiteRT and ONNX exports to int8. A SavedModel in the same "
        "export is not quantized.",
        choices=("int8",),
    )

    @property
    def export_formats(self) -> tuple[ExportFormat, ...]:
        """Formats of the export, without duplicates."""
        names = self._format_names
        return tuple(name for name in names if name in EXPORT_FORMATS)

    @property
    def _format_names(self) -> tuple[str, ...]:
        """Names in --export_format, which `check` compares with the formats."""
        default = "litert" if self.quantize else "saved_model"
        names = (self.export_format or default).split(",")
        return tuple(dict.fromkeys(map(str.strip, names)))

    def check(self) -> None:
        """Checks the flags of an export, before any slow work.

        Raises:
            ValueError: flags contradict each other, or a format is unknown or
                needs a package that is not installed.
        """
        for name in ("export_format", "quantize"):
            if vars(self)[name] and self.export_dir is None:
                raise ValueError(f"--{name} needs --export_dir")
        names = self._format_names
        if unknown := [name for name in names if name not in EXPORT_FORMATS]:
            raise ValueError(
                f"--export_format={self.export_format}: {unknown[0]!r} is not "
                f"a format; choose from {', '.join(EXPORT_FORMATS)}"
            )
        if self.quantize and names == ("saved_model",):
            raise ValueError(
                f"--quantize={self.quantize} is not for --export_format="
                "saved_model; set --export_format=litert or onnx"
            )
        # ONNX Runtime contains the quantizer.
        needed = ["onnx", "onnxruntime"] if self.quantize else ["onnx"]
        missing = [
            name for name in needed if not importlib.util.find_spec(name)
        ]
        if "onnx" in names and missing:
            raise ValueError(
                f"--export_format=onnx needs {' and '.join(missing)}: "
                f"{install_command('onnx')}"
            )
