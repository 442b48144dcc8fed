"""The export of a multiple-choice model, which accepts only ids.

B = batch size, C = choices, F = length of an input in WordPieces, with padding.
"""

from model_folders.model_entries import HeadSettings
from modeling.task_models import BertMultipleChoice
from serving import output_kinds
from serving.exporting.export_options import ExportOptions
from serving.exporting.signatures import export_signatures


def create_head(
    model: BertMultipleChoice, settings: HeadSettings, options: ExportOptions
) -> export_signatures.ExportHead:
    """Returns the head of a multiple-choice model.

    The inputs of `ids` are int32 [B, C, F]. It returns `probabilities` of the
    choices, float32 [B, C].

    Args:
        model: a BertMultipleChoice.
        settings: not used.
        options: not used.
    """
    return export_signatures.ExportHead(
        export_signatures.predict_labels(model, output_kinds.CLASSIFICATION)
    )
