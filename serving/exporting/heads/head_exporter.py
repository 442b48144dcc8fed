"""The `HeadExporter` of a kind of model: its signatures and its ONNX head."""

import dataclasses
from collections.abc import Callable
from typing import Generic, TypeVar

from model_folders.model_json import HeadSettings
from modeling.base_model import BaseModel
from serving.export_options import ExportOptions
from serving.exporting.onnx_graph.encoder_graph import (
    EncoderGraph,
    GraphOutputs,
)
from serving.exporting.signatures.signature import ExportSignatures

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclasses.dataclass(frozen=True, kw_only=True)
class HeadExporter(Generic[ModelT]):
    """Exports the head of one kind of model: its signatures and its ONNX head.

    Attributes:
        create_signatures: creates the signatures of the export. Its
            settings are those of the head, which model.json records.
        add_onnx_head: adds the head to an ONNX graph, and returns the outputs
            of the graph. None if ONNX cannot be written for such models.
    """

    create_signatures: Callable[
        [ModelT, HeadSettings, ExportOptions], ExportSignatures
    ]
    add_onnx_head: Callable[[ModelT, EncoderGraph], GraphOutputs] | None = None
