"""Exports the head of a multiple-choice model: only `ids`, and ONNX."""

from model_folders import kinds
from model_folders.model_json import SharedHeadSettings
from modeling.task_models import BertMultipleChoice
from serving import engines
from serving.export_options import ExportOptions
from serving.exporting.heads.head_exporter import HeadExporter
from serving.exporting.onnx_graph.encoder_graph import (
    EncoderGraph,
    GraphOutputs,
)
from serving.exporting.signatures.ids_graph import create_label_predictor
from serving.exporting.signatures.signature import ExportSignatures


def create_choice_signatures(
    model: BertMultipleChoice,
    head_settings: SharedHeadSettings,
    options: ExportOptions,
) -> ExportSignatures:
    """Returns only `ids`, whose `probabilities` are those of the choices.

    Args:
        model: model to export.
        head_settings: settings of the head. A multiple-choice model needs none.
        options: none of them applies to `ids`.
    """
    return ExportSignatures(create_label_predictor(model, kinds.CLASSIFICATION))


def _add_onnx_head(
    model: BertMultipleChoice, graph: EncoderGraph
) -> GraphOutputs:
    """Adds a head that compares the choices as if they were labels."""
    builder = graph.builder
    logits = builder.dense(graph.encoded.pooled, model.head)
    ids = engines.ONNX_NAME_OF_INPUT["input_ids"]
    choices = builder.add("Shape", ids, start=0, end=2)
    logits = builder.add("Reshape", logits, choices)
    return graph.add_label_outputs(logits, graph.shape[:2])


EXPORTER = HeadExporter(
    create_signatures=create_choice_signatures, add_onnx_head=_add_onnx_head
)
