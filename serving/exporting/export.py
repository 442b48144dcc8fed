"""Writes exports of models of all kinds.

For example, this writes the export of a classifier of two labels:

    labels = ["no", "yes"]
    serving.export("output/model", model, {"labels": labels}, options)
"""

import os

from model_folders import kinds
from model_folders.cards import model_card
from model_folders.kinds import ModelClass
from model_folders.model_json import HeadSettings
from modeling.base_model import BaseModel
from modeling.task_models import BertEmbedder
from serving.export_options import ExportOptions
from serving.exporting.folder_writer import write_export
from serving.exporting.heads.exporter_registry import HEAD_EXPORTER_OF_CLASS


def is_exportable(model: BaseModel) -> bool:
    """Returns whether `export` supports models of this class."""
    # A subclass of BertEmbedder too is exported as its encoder.
    return (
        isinstance(model, BertEmbedder)
        or kinds.model_class_of(model) in HEAD_EXPORTER_OF_CLASS
    )


def export(
    folder: str | os.PathLike[str],
    model: BaseModel,
    head_settings: HeadSettings,
    options: ExportOptions,
) -> model_card.ExportCard | None:
    """Exports a model, with signatures that suit the kind of the model.

    The signature `ids` accepts ids of WordPieces. Only SavedModels contain the
    other signatures, which accept text. docs/serving.md lists them. A
    BertEmbedder is exported as its encoder. The export of a multiple-choice
    model accepts no text.

    If the only format is a SavedModel, all other files except README.md are
    written to the folder `assets.extra`.

    Args:
        folder: folder to write. It gets this name when it is complete.
        model: model to export, of a class in `modeling`.
        head_settings: settings of the head, with the names that model.json
            records under `task`. Names that the kind of the model does not use
            are ignored. A classifier uses `labels`, `output_mode`,
            `doc_stride` and `num_texts`, a token classifier `labels` and
            `legal_tags`, and a span labeler the fields of WindowOptions and
            DecodingOptions in data/squad.
        options: options that do not depend on the kind of the model.

    Returns:
        the values of the export's README.md, to write it again with scores.
        None if the export has no README.md, such as the export of a
        multiple-choice model.

    Raises:
        OSError: the export cannot be written. An earlier export does not
            change.
        ValueError: the folder contains files that are not an export (see
            model_folders/atomic_folders.py), the model has no weights yet, its
            class is not one of `modeling`, or the labels do not name its
            outputs.
        ImportError: a package of a format is not installed.
    """
    if isinstance(model, BertEmbedder):
        model = model.bert
    if not model.built:
        raise ValueError(
            f"{model.name} has no weights yet; call build() or load a "
            f"checkpoint before you export the model to {folder}"
        )
    model_class = kinds.model_class_of(model)
    if model_class not in HEAD_EXPORTER_OF_CLASS:
        exported = ", ".join(sorted(HEAD_EXPORTER_OF_CLASS))
        raise ValueError(
            f"a {model_class} cannot be exported to {folder}; the classes that "
            f"can are {exported} and {ModelClass.EMBEDDER}"
        )
    exporter = HEAD_EXPORTER_OF_CLASS[ModelClass(model_class)]
    signatures = exporter.create_signatures(model, head_settings, options)
    return write_export(folder, model, signatures, options)
