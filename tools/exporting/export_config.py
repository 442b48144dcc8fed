"""The flags of tools/export.py."""

import dataclasses

from exporting.export_options import ExportFormatOptions
from model_folders.kinds import ModelClass
from options.config import Config
from options.fields import PathType, group, option, option_changes

# {value of --task: model class to export for it}.
CLASS_OF_TASK: dict[str, ModelClass] = {
    "embed": ModelClass.ENCODER,
    "fill-mask": ModelClass.PRETRAINER,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportConfig(Config):
    """The model, and the export to write."""

    export: ExportFormatOptions = group(
        ExportFormatOptions, export_dir=option_changes(default=...)
    )
    model: str = option(
        ...,
        "Folder of a model's weights, such as the --output_dir of a run, or "
        "hf://OWNER/NAME[@REVISION] of the Hugging Face hub.",
        path_type=PathType.MODEL,
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

    def check_early(self) -> None:
        """Checks the flags of the export."""
        self.export.check()
