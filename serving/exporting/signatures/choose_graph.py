"""The export of a multiple-choice model, which accepts only ids.

B = batch size, C = choices, F = length of an input in WordPieces, with padding.
"""

from model_folders.model_json_types import HeadSettings
from modeling.task_models import BertMultipleChoice
from serving.engines import output_kinds
from serving.exporting.signatures.export_options import ExportOptions
from serving.exporting.signatures.export_signatures import (
    ExportSignatures,
    create_label_predictor,
)


def create_choose_signatures(
    model: BertMultipleChoice, settings: HeadSettings, options: ExportOptions
) -> ExportSignatures:
    """Returns the signatures of a multiple-choice model: only `ids`.

    The inputs of `ids` are int32 [B, C, F]. `ids` returns `probabilities` of
    the choices, float32 [B, C].

    Args:
        model: model to export.
        settings: not used.
        options: not used.
    """
    return ExportSignatures(
        create_label_predictor(model, output_kinds.CLASSIFICATION)
    )
