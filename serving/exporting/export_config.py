"""The flags of tools/export.py, of which training scripts share a group."""

import dataclasses
import importlib.util
from typing import Literal, Self

from imports.installation import install_command
from model_folders import kinds
from options import fields
from options.config import Config
from options.fields import group, like, option
from options.path_kinds import PathKind
from serving.engines import EXPORT_FORMATS, ExportFormat

# {value of --task: model class to export for it}.
CLASS_OF_TASK: dict[str, kinds.ModelClass] = {
    "embed": kinds.ENCODER,
    "fill-mask": kinds.PRETRAINER,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportFlags:
    """Flags of an export: its folder and its format."""

    export_dir: str | None = fields.neutral_option(
        None,
        "Export the model for serving to this folder, such as models/mrpc/1 "
        "for TensorFlow Serving, which looks for numbered folders.",
        kind=PathKind.NEW_FOLDER,
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportConfig(Config):
    """The model, and the export to write."""

    export: ExportFlags = group(ExportFlags, export_dir=like(default=...))
    model: str = option(
        ...,
        "Folder of a model's weights, such as the --output_dir of a run, or "
        "hf://OWNER/NAME[@REVISION] of the Hugging Face hub.",
        kind=PathKind.MODEL,
    )
    task: str | None = option(
        None,
        "embed exports the encoder of any model. fill-mask exports the heads "
        "of pretraining of a folder that does not name its task, such as one "
        "of Google's. By default, the folder names the task.",
        choices=list(CLASS_OF_TASK),
    )
    max_seq_length: int | None = option(
        None,
        "Maximum number of WordPieces in an input. By default, the length that "
        "the folder records, else as many as the model has positions.",
        at_least=3,
    )

    def complete(self, set_by_user: frozenset[str]) -> Self:
        """Checks the flags of the export, and returns all flags."""
        self.export.check()
        return self
