"""Writes ONNX files: the encoder, the head of the model, and their weights.

The inputs are named as in Hugging Face: input_ids, attention_mask and
token_type_ids, int64 [B, T], or [B, C, T] for multiple choice. B and T are
variable, unless `create_graph` fixes T. The graph computes the same outputs as
the signature `ids` of a SavedModel. Most task models also output "logits", as
in Hugging Face.

onnx_graph.py adds the encoder to the graph, and this module adds the head.

B = batch size, C = choices, T = length in WordPieces.
"""

import dataclasses
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import onnx
from onnx import TensorProto, helper

from exporting import export_formats
from exporting.export_formats import ExportedOutput
from exporting.export_options import ExportOptions
from exporting.onnx_graph import (
    EncoderOutputNames,
    FeatureNames,
    GraphBuilder,
    add_encoder,
)
from exporting.signature_graphs import ExportSignatures
from model_folders import kinds
from model_folders.output_modes import CLASSIFICATION, MULTILABEL, REGRESSION
from modeling import BertModel
from modeling.base_model import BaseModel
from modeling.base_task_model import TaskModel
from modeling.task_models import (
    BertClassifier,
    BertMultipleChoice,
    BertPretrainer,
    BertSpanLabeler,
    BertTokenClassifier,
)

# Version of ONNX's operator set. It is the first version that contains Gelu.
_OPSET = 20
# Version of ONNX's file format.
_IR_VERSION = 10

# Shape of a tensor. A str is the name of a size that is known only at run time.
TensorShape: TypeAlias = list[int | str]


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

    Raises:
        OSError: the file cannot be written.
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


class GraphOutput(NamedTuple):
    """An output of the graph.

    Attributes:
        tensor: name of the tensor that contains the output.
        shape: shape of the tensor.
    """

    tensor: str
    shape: TensorShape


# {name of an output: GraphOutput}
GraphOutputs: TypeAlias = dict[str, GraphOutput]


@dataclasses.dataclass(frozen=True)
class EncoderGraph:
    """An ONNX graph that contains an encoder, to which a head is added.

    Attributes:
        builder: adds the nodes and weights of the head.
        encoded: outputs of the encoder.
        shape: shape of the graph's inputs, [B, T] or [B, C, T].
        exported_output: what to compute from the logits of labels (see
            export_formats.py).
    """

    builder: GraphBuilder
    encoded: EncoderOutputNames
    shape: TensorShape
    exported_output: export_formats.ExportedOutput

    def add_label_outputs(
        self, logits: str, shape: TensorShape
    ) -> GraphOutputs:
        """Adds what a head of labels computes from its logits.

        Args:
            logits: name of the tensor of logits, which the head has added.
            shape: shape of the logits, [..., labels].

        Returns:
            `logits`, and the `probabilities` in the shape of the logits, or in
            regression the `values`, float [B].
        """
        outputs = {"logits": GraphOutput(logits, shape)}
        if self.exported_output == export_formats.LOGITS:
            return outputs
        if self.exported_output == REGRESSION:
            values = self.builder.select(logits, 0, axis=-1)
            return outputs | {"values": GraphOutput(values, shape[:1])}
        is_multilabel = self.exported_output == MULTILABEL
        operation = "Sigmoid" if is_multilabel else "Softmax"
        probabilities = self.builder.add(operation, logits)
        return outputs | {"probabilities": GraphOutput(probabilities, shape)}


def _add_head(model: BaseModel, graph: EncoderGraph) -> GraphOutputs:
    """Adds the head of a model, and returns the outputs of the graph."""
    model_class = kinds.model_class_of(model)
    if model_class not in _ADD_HEAD_OF_CLASS:
        raise TypeError(f"a {model_class} has no head for ONNX")
    return _ADD_HEAD_OF_CLASS[kinds.ModelClass(model_class)](model, graph)


def _add_classifier_head(
    model: BertClassifier, graph: EncoderGraph
) -> GraphOutputs:
    """Adds a head of labels that reads the pooled output."""
    logits = graph.builder.dense(graph.encoded.pooled, model.head)
    shape = [*graph.shape[:1], model.num_labels]
    return graph.add_label_outputs(logits, shape)


def _add_multiple_choice_head(
    model: BertMultipleChoice, graph: EncoderGraph
) -> GraphOutputs:
    """Adds a head that compares the choices as if they were labels."""
    builder = graph.builder
    logits = builder.dense(graph.encoded.pooled, model.head)
    ids = export_formats.ONNX_NAME_OF_INPUT["input_ids"]
    choices = builder.add("Shape", ids, start=0, end=2)
    logits = builder.add("Reshape", logits, choices)
    return graph.add_label_outputs(logits, graph.shape[:2])


def _add_token_classifier_head(
    model: BertTokenClassifier, graph: EncoderGraph
) -> GraphOutputs:
    """Adds a head of labels that reads every position."""
    logits = graph.builder.dense(graph.encoded.sequence, model.head)
    shape = [*graph.shape, model.num_labels]
    return graph.add_label_outputs(logits, shape)


def _add_span_labeler_head(
    model: BertSpanLabeler, graph: EncoderGraph
) -> GraphOutputs:
    """Adds the logits of the start and the end of an answer."""
    builder = graph.builder
    logits = builder.dense(graph.encoded.sequence, model.head)
    return {
        name: GraphOutput(builder.select(logits, index, axis=-1), graph.shape)
        for index, name in enumerate(("start_logits", "end_logits"))
    }


def _add_pretrainer_heads(
    model: BertPretrainer, graph: EncoderGraph
) -> GraphOutputs:
    """Adds both heads of a pretrainer, for words at all positions."""
    builder = graph.builder
    words = _add_masked_lm(model, graph)
    follows = builder.dense(graph.encoded.pooled, model.next_sentence)
    sizes = [*graph.shape, builder.bert_config.vocab_size]
    return {
        "logits": GraphOutput(words, sizes),
        "masked_lm_probabilities": GraphOutput(
            builder.add("Softmax", words), sizes
        ),
        "next_sentence_probabilities": GraphOutput(
            builder.add("Softmax", follows), [*graph.shape[:1], 2]
        ),
    }


def _add_masked_lm(model: BertPretrainer, graph: EncoderGraph) -> str:
    """Adds the logits of all words at all positions."""
    builder = graph.builder
    head = model.masked_lm
    outputs = builder.dense(graph.encoded.sequence, head.dense)
    outputs = builder.activate(outputs, builder.bert_config.hidden_act)
    outputs = builder.layer_norm(outputs, head.layer_norm)
    words = builder.weight(model.bert.embeddings.word_embeddings)
    kernel = builder.add("Transpose", words, perm=(1, 0))
    outputs = builder.add("MatMul", outputs, kernel)
    return builder.add("Add", outputs, builder.weight(head.output_bias))


def _add_encoder_outputs(model: BertModel, graph: EncoderGraph) -> GraphOutputs:
    """Adds nothing: the outputs of the graph are those of the encoder."""
    shape = graph.shape
    width = model.config.hidden_size
    return {
        "last_hidden_state": GraphOutput(
            graph.encoded.sequence, [*shape, width]
        ),
        "pooler_output": GraphOutput(graph.encoded.pooled, [*shape[:1], width]),
    }


# {class of a model: function that adds its head}. Any, because each function
# accepts only models of its class.
_ADD_HEAD_OF_CLASS: Final[
    dict[kinds.ModelClass, Callable[[Any, EncoderGraph], GraphOutputs]]
] = {
    kinds.ModelClass.CLASSIFIER: _add_classifier_head,
    kinds.ModelClass.ENCODER: _add_encoder_outputs,
    kinds.ModelClass.MULTIPLE_CHOICE: _add_multiple_choice_head,
    kinds.ModelClass.PRETRAINER: _add_pretrainer_heads,
    kinds.ModelClass.SPAN_LABELER: _add_span_labeler_head,
    kinds.ModelClass.TOKEN_CLASSIFIER: _add_token_classifier_head,
}


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
