"""Writes ONNX files: the encoder, the head of the model, and their weights.

The inputs are named as in Hugging Face: input_ids, attention_mask and
token_type_ids, int64 [B, T], or [B, C, T] for multiple choice. B and T are
variable, unless `create_graph` fixes T. The graph computes the same outputs as
the signature `ids` of a SavedModel. Most task models also output "logits", as
in Hugging Face.

onnx_graph.py adds the encoder to the graph, and onnx_heads.py the head.

B = batch size, C = choices, T = length in WordPieces.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper

from exporting import export_formats
from exporting.export_formats import ExportedOutput
from exporting.export_options import ExportOptions
from exporting.onnx_graph import FeatureNames, GraphBuilder, add_encoder
from exporting.onnx_heads import (
    EncoderGraph,
    GraphOutput,
    GraphOutputs,
    TensorShape,
    add_classifier_head,
    add_encoder_outputs,
    add_multiple_choice_head,
    add_pretrainer_heads,
    add_span_labeler_head,
    add_token_classifier_head,
)
from exporting.signatures import ExportSignatures
from model_folders import kinds
from model_folders.kinds import ModelClass
from model_folders.output_modes import CLASSIFICATION
from modeling import BertModel
from modeling.base_model import BaseModel
from modeling.base_task_model import TaskModel

# {class of a model: what adds its head to the graph}. Any, because each
# function accepts only models of its class.
ADD_HEAD_OF_CLASS: Final[
    dict[ModelClass, Callable[[Any, EncoderGraph], GraphOutputs]]
] = {
    ModelClass.CLASSIFIER: add_classifier_head,
    ModelClass.ENCODER: add_encoder_outputs,
    ModelClass.MULTIPLE_CHOICE: add_multiple_choice_head,
    ModelClass.PRETRAINER: add_pretrainer_heads,
    ModelClass.SPAN_LABELER: add_span_labeler_head,
    ModelClass.TOKEN_CLASSIFIER: add_token_classifier_head,
}
# Version of ONNX's operator set. It is the first version that contains Gelu.
_OPSET = 20
# Version of ONNX's file format.
_IR_VERSION = 10


def write_onnx(
    path: Path,
    model: BaseModel,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> None:
    """Writes the file model.onnx.

    Args:
        path: path of the file to write.
        model: model whose network and weights the file contains.
        signatures: signatures of the export, of which only `exported_output`
            applies.
        options: `fixed_length` and `quantize` apply.
    """
    precision = options.quantize or "float32"
    graph = create_graph(
        model, signatures.exported_output, options.fixed_length, precision
    )
    if options.quantize:
        _write_quantized(path, graph)
    else:
        path.write_bytes(graph.SerializeToString())


def _write_quantized(path: Path, graph: onnx.ModelProto) -> None:
    """Writes a graph whose weights are int8."""
    # An optional package, which only quantization needs.
    from onnxruntime import quantization

    # Prevent the warning that the graph should be optimized before it is
    # quantized. ONNX Runtime optimizes the graph that it loads.
    quantization.quant_utils.add_pre_process_metadata(graph)
    # The standard has no LSTM in int8, only ONNX Runtime has.
    lstms = [node.name for node in graph.graph.node if node.op_type == "LSTM"]
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        float_path = Path(folder, "model.onnx")
        float_path.write_bytes(graph.SerializeToString())
        quantization.quantize_dynamic(
            float_path, path, per_channel=True, nodes_to_exclude=lstms
        )


def create_graph(
    model: BaseModel,
    exported_output: ExportedOutput = CLASSIFICATION,
    length: int | None = None,
    precision: str = "float32",
) -> onnx.ModelProto:
    """Returns the ONNX graph of a task's model.

    Args:
        model: a built model.
        exported_output: what to compute from the logits (see
            export_formats.py).
        length: a fixed T, or None for a variable T.
        precision: precision of the weights, for the file's metadata.

    Raises:
        TypeError: a model of this class cannot be exported for ONNX.
    """
    builder = GraphBuilder(model.config)
    inputs = [*export_formats.ONNX_NAME_OF_INPUT.values()]
    sequence_length = length or "sequence_length"
    if model.feature_ranks["input_ids"] == 3:
        shape: TensorShape = ["batch_size", "num_choices", sequence_length]
        features = _flatten_choices(builder, inputs)
    else:
        shape = ["batch_size", sequence_length]
        features = FeatureNames(*inputs)
    if isinstance(model, TaskModel):
        encoded = add_encoder(builder, model.bert, model.bilstm, features)
    else:
        assert isinstance(model, BertModel)
        encoded = add_encoder(builder, model, None, features)
    outputs = _add_head(
        model, EncoderGraph(builder, encoded, shape, exported_output)
    )
    input_shapes = dict.fromkeys(inputs, shape)
    return _create_proto(builder, model.name, input_shapes, outputs, precision)


def _add_head(model: BaseModel, graph: EncoderGraph) -> GraphOutputs:
    """Adds the head of a model, and returns the outputs of the graph."""
    model_class = kinds.model_class_of(model)
    if model_class not in ADD_HEAD_OF_CLASS:
        raise TypeError(f"a {model_class} has no head for ONNX")
    return ADD_HEAD_OF_CLASS[ModelClass(model_class)](model, graph)


def _flatten_choices(
    builder: GraphBuilder, inputs: Sequence[str]
) -> FeatureNames:
    """Returns the inputs, [B, C, T], with all choices in one batch."""
    flat = builder.constant([-1], np.int64)
    size = builder.add("Shape", inputs[0], start=2)
    flat = builder.add("Concat", flat, size, axis=0)
    return FeatureNames(
        *(builder.add("Reshape", name, flat) for name in inputs)
    )


def _create_proto(
    builder: GraphBuilder,
    name: str,
    inputs: Mapping[str, TensorShape],
    outputs: Mapping[str, GraphOutput],
    precision: str,
) -> onnx.ModelProto:
    """Moves the weights out of the builder, and returns a file's contents.

    Args:
        builder: the nodes and weights.
        name: name of the graph.
        inputs: {name of an input: its shape}.
        outputs: {name of an output: GraphOutput}.
        precision: precision of the weights, for the file's metadata.
    """
    output_nodes = [
        helper.make_node("Identity", [output.tensor], [output_name])
        for output_name, output in outputs.items()
    ]
    describe = helper.make_tensor_value_info
    graph = helper.make_graph(
        [*builder.nodes, *output_nodes],
        name,
        [
            describe(input_name, TensorProto.INT64, shape)
            for input_name, shape in inputs.items()
        ],
        [
            describe(output_name, TensorProto.FLOAT, output.shape)
            for output_name, output in outputs.items()
        ],
    )
    created = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="bert",
    )
    helper.set_model_props(created, {"precision": precision})
    # Move the weights one by one, because each `make_` copies its arguments.
    for weight in [*builder.weights]:
        created.graph.initializer.append(builder.weights.pop(weight))
    return created
