"""Writes exports of models of all kinds.

For example, this writes the export of a classifier of two labels:

    labels = ["no", "yes"]
    serving.export("output/model", model, {"labels": labels}, options)
"""

import os
from collections.abc import Callable
from typing import Any

from model_folders import kinds
from model_folders.cards import model_card
from model_folders.model_json_types import HeadSettings
from modeling.base_model import BaseModel
from modeling.task_models import BertEmbedder, BertMultipleChoice
from serving.engines import exported_outputs
from serving.exporting.export_folder import write_export
from serving.exporting.heads.answer import create_answer_signatures
from serving.exporting.heads.classify import (
    create_classify_signatures,
)
from serving.exporting.heads.embed import create_embed_signatures
from serving.exporting.heads.pretrained import (
    create_pretrained_signatures,
)
from serving.exporting.heads.tag import create_tag_signatures
from serving.exporting.signatures.export_options import ExportOptions
from serving.exporting.signatures.export_signatures import ExportSignatures
from serving.exporting.signatures.ids_graph import create_label_predictor


def export(
    folder: str | os.PathLike[str],
    model: BaseModel,
    settings: HeadSettings,
    options: ExportOptions,
) -> model_card.Card | None:
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
        settings: settings of the head, with the names that model.json records
            under `task`. Names that the kind of the model does not use are
            ignored. A classifier uses `labels`, `output_mode`, `doc_stride` and
            `num_texts`, a token classifier `labels` and `legal_tags`, and a
            span labeler the fields of WindowOptions and DecodingOptions in
            data/squad.
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
    signatures = _create_signatures(folder, model, settings, options)
    return write_export(folder, model, signatures, options)


def _create_signatures(
    folder: str | os.PathLike[str],
    model: BaseModel,
    settings: HeadSettings,
    options: ExportOptions,
) -> ExportSignatures:
    """Returns the signatures that suit the kind of a model.

    Raises a ValueError, which names the folder to write, if the class is not
    one of `modeling`.
    """
    model_class = kinds.model_class_of(model)
    # A user's own subclass has no entry, because it may compute something else.
    if model_class in _SIGNATURES_CREATOR_OF_CLASS:
        return _SIGNATURES_CREATOR_OF_CLASS[model_class](
            model, settings, options
        )
    exported = ", ".join(sorted(_SIGNATURES_CREATOR_OF_CLASS))
    raise ValueError(
        f"a {model_class} cannot be exported to {folder}; the classes that can "
        f"are {exported} and {kinds.EMBEDDER}"
    )


def _create_choice_signatures(
    model: BertMultipleChoice, settings: HeadSettings, options: ExportOptions
) -> ExportSignatures:
    """Returns only `ids`, whose `probabilities` are those of the choices."""
    return ExportSignatures(
        create_label_predictor(model, exported_outputs.CLASSIFICATION)
    )


# {class of a model: function that creates the signatures of its export}. Any,
# because each function accepts only models of its class. An embedder is
# exported as its encoder.
_SIGNATURES_CREATOR_OF_CLASS: dict[
    kinds.ModelClass,
    Callable[[Any, HeadSettings, ExportOptions], ExportSignatures],
] = {
    kinds.CLASSIFIER: create_classify_signatures,
    kinds.ENCODER: create_embed_signatures,
    kinds.MULTIPLE_CHOICE: _create_choice_signatures,
    kinds.PRETRAINER: create_pretrained_signatures,
    kinds.SPAN_LABELER: create_answer_signatures,
    kinds.TOKEN_CLASSIFIER: create_tag_signatures,
}
