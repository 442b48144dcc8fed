"""Builds an ONNX graph node by node, and adds the encoder of a model to it.

B = batch size, T = length in WordPieces, W = hidden size.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike
from onnx import TensorProto, helper, numpy_helper

from data.arrays import FloatArray
from model_folders.bert_config import BertConfig
from modeling import BertModel
from modeling.embeddings import Embeddings
from modeling.encoder import TransformerBlock
from modeling.heads import BidirectionalLSTM, OutputHead


class GraphBuilder:
    """Collects the nodes and weights of a graph.

    The methods accept names of tensors, add nodes that compute a new tensor,
    and return the name of this tensor.

    Attributes:
        bert_config: configuration of the model.
        nodes: the nodes, in the order in which they are computed.
        weights: {name: tensor} of the weights and constants.
    """

    def __init__(self, bert_config: BertConfig) -> None:
        self.bert_config = bert_config
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, TensorProto] = {}

    # Any, because the types of the attributes depend on the operation.
    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node with an operation of ONNX. Returns its output's name."""
        name = f"{operation}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(operation, inputs, [name], name, **attributes)
        )
        return name

    def constant(self, value: ArrayLike, dtype: DTypeLike = np.float32) -> str:
        """Adds a constant. Returns its name."""
        name = f"constant_{len(self.weights)}"
        array = np.array(value, dtype)
        self.weights[name] = numpy_helper.from_array(array, name)
        return name

    def weight(
        self, variable: keras.Variable, *, transpose: bool = False
    ) -> str:
        """Adds a weight of the model, unless it was added before."""
        name: str = variable.path
        if name not in self.weights:
            value = keras.ops.convert_to_numpy(variable).astype(np.float32)
            value = np.ascontiguousarray(value.T if transpose else value)
            self.weights[name] = numpy_helper.from_array(value, name)
        return name

    def select(self, inputs: str, index: int, axis: int) -> str:
        """Selects one index of an axis, and drops the axis."""
        indices = self.constant(index, np.int64)
        return self.add("Gather", inputs, indices, axis=axis)

    def dense(self, inputs: str, layer: keras.layers.Dense | OutputHead) -> str:
        """Applies a dense layer, without its activation function."""
        if isinstance(layer, OutputHead):
            kernel = self.weight(layer.output_weights, transpose=True)
            bias = layer.output_bias
        else:
            kernel, bias = self.weight(layer.kernel), layer.bias
        product = self.add("MatMul", inputs, kernel)
        return self.add("Add", product, self.weight(bias))

    def layer_norm(
        self, inputs: str, layer: keras.layers.LayerNormalization
    ) -> str:
        """Applies a layer normalization over the last axis."""
        return self.add(
            "LayerNormalization",
            inputs,
            self.weight(layer.gamma),
            self.weight(layer.beta),
            epsilon=self.bert_config.layer_norm_eps,
        )

    def activate(self, inputs: str, hidden_act: str | None) -> str:
        """Applies an activation function, a `hidden_act` of a `BertConfig`."""
        if not hidden_act or hidden_act == "linear":
            return inputs
        if hidden_act == "silu":
            return self.add("Mul", inputs, self.add("Sigmoid", inputs))
        if hidden_act == "gelu_erf":
            return self.add("Gelu", inputs)
        if hidden_act == "gelu":
            return self._tanh_gelu(inputs)
        return self.add(hidden_act.capitalize(), inputs)

    def _tanh_gelu(self, inputs: str) -> str:
        """Applies Google's approximation of GELU.

        ONNX Runtime fuses exactly these operations. Its module
        `transformers.optimizer` would replace Gelu(approximate="tanh") by the
        exact function.
        """
        cube = self.add("Pow", inputs, self.constant(3.0))
        cube = self.add("Mul", cube, self.constant(0.044715))
        inner = self.add("Add", inputs, cube)
        inner = self.add("Mul", inner, self.constant(math.sqrt(2 / math.pi)))
        outer = self.add("Add", self.add("Tanh", inner), self.constant(1.0))
        half = self.add("Mul", inputs, self.constant(0.5))
        return self.add("Mul", half, outer)


class FeatureNames(NamedTuple):
    """Names of the tensors that the encoder reads, int64 [B, T] each."""

    ids: str
    mask: str
    segments: str


class EncoderOutputNames(NamedTuple):
    """Names of the tensors that the encoder computes.

    Attributes:
        sequence: outputs at all positions, float [B, T, W].
        pooled: the output for the whole input, float [B, W].
    """

    sequence: str
    pooled: str


def add_encoder(
    builder: GraphBuilder,
    bert: BertModel,
    bilstm: BidirectionalLSTM | None,
    features: FeatureNames,
) -> EncoderOutputNames:
    """Adds an encoder, and the LSTM after it if there is one.

    Args:
        builder: graph to which the encoder is added.
        bert: network whose weights the graph contains.
        bilstm: LSTM above the network, or None.
        features: names of the inputs.

    Returns:
        the names of the tensors with the encoder's outputs.
    """
    ids, mask, segments = features
    one = builder.constant([1], np.int64)
    positions = _add_positions(builder, ids, one)
    outputs = _add_embeddings(
        builder, bert.embeddings, ids, segments, positions
    )
    adder = _add_score_adder(
        builder, features, positions, one, left_to_right=bert.left_to_right
    )
    for block in bert.encoder.blocks:
        outputs = _add_block(builder, block, outputs, adder)
    if bilstm:
        last = _add_last_position(builder, mask, positions, one)
        return _add_lstm(builder, bilstm, outputs, mask, last)
    if bert.left_to_right:
        last = _add_last_position(builder, mask, positions, one)
        read = builder.add("GatherND", outputs, last, batch_dims=1)
    else:
        read = builder.select(outputs, 0, axis=1)
    pooled = builder.add("Tanh", builder.dense(read, bert.pooler))
    return EncoderOutputNames(outputs, pooled)


def _add_last_position(
    builder: GraphBuilder, mask: str, positions: str, one: str
) -> str:
    """Adds the last position that is not padding, int64 [B, 1]."""
    ends = builder.add("Mul", mask, positions)
    return builder.add("ReduceMax", ends, one, keepdims=1)


def _add_positions(builder: GraphBuilder, ids: str, one: str) -> str:
    """Adds the positions 0, 1, 2, ..., int64 [B, T].

    ONNX Runtime's fused embedding requires exactly these operations.
    """
    ones = builder.add("Add", builder.add("Sub", ids, ids), one)
    # ONNX requires a scalar for the axis of CumSum.
    axis = builder.constant(1, np.int64)
    return builder.add("CumSum", ones, axis, exclusive=1)


def _add_score_adder(
    builder: GraphBuilder,
    features: FeatureNames,
    positions: str,
    one: str,
    *,
    left_to_right: bool,
) -> str:
    """Adds the tensor to add to attention scores, [B, 1, T or 1, T].

    The tensor is 0 where a position may attend to another position, else
    -10000.
    """
    real = builder.add("Unsqueeze", features.mask, one)
    real = builder.add("Unsqueeze", real, builder.constant([2], np.int64))
    real = builder.add("Cast", real, to=TensorProto.FLOAT)
    if left_to_right:
        real = builder.add("Mul", real, _add_past(builder, positions))
    # `limit` is a slice of a constant that is as long as the position
    # table. If the inputs are longer, the slice is shorter than `real`, so
    # `Sub` fails. Without this check, some runtimes would read zeros beyond
    # the position table.
    zero = builder.constant([0], np.int64)
    length = builder.add("Shape", features.ids, start=1, end=2)
    ones = builder.constant(
        np.ones(builder.bert_config.max_position_embeddings)
    )
    limit = builder.add("Slice", ones, zero, length, zero)
    hidden = builder.add("Sub", limit, real)
    return builder.add("Mul", hidden, builder.constant(-10000.0))


def _add_past(builder: GraphBuilder, positions: str) -> str:
    """Adds float [B, 1, T, T]: 1 if the key is not after the query, else 0."""
    row_axes = builder.constant([1, 3], np.int64)
    rows = builder.add("Unsqueeze", positions, row_axes)
    column_axes = builder.constant([1, 2], np.int64)
    columns = builder.add("Unsqueeze", positions, column_axes)
    is_visible = builder.add("GreaterOrEqual", rows, columns)
    return builder.add("Cast", is_visible, to=TensorProto.FLOAT)


def _add_embeddings(
    builder: GraphBuilder,
    layer: Embeddings,
    ids: str,
    segments: str,
    positions: str,
) -> str:
    """Adds the sum of the three embeddings, normalized."""

    def look_up(table: keras.Variable, rows: str) -> str:
        return builder.add("Gather", builder.weight(table), rows)

    of_words = look_up(layer.word_embeddings, ids)
    of_types = look_up(layer.token_type_embeddings, segments)
    of_positions = look_up(layer.position_embeddings, positions)
    summed = builder.add("Add", of_words, of_types)
    summed = builder.add("Add", summed, of_positions)
    return builder.layer_norm(summed, layer.layer_norm)


def _add_block(
    builder: GraphBuilder, block: TransformerBlock, inputs: str, adder: str
) -> str:
    """Adds a Transformer block. `adder` is added to its attention scores."""
    heads = builder.bert_config.num_attention_heads
    size = builder.bert_config.hidden_size // heads
    split = builder.constant([0, 0, heads, size], np.int64)

    def split_heads(layer: keras.layers.Dense, perm: Sequence[int]) -> str:
        outputs = builder.add("Reshape", builder.dense(inputs, layer), split)
        return builder.add("Transpose", outputs, perm=perm)

    query = split_heads(block.attention.query, (0, 2, 1, 3))
    key = split_heads(block.attention.key, (0, 2, 3, 1))
    value = split_heads(block.attention.value, (0, 2, 1, 3))
    scores = builder.add("MatMul", query, key)
    scores = builder.add("Div", scores, builder.constant(math.sqrt(size)))
    scores = builder.add("Add", scores, adder)
    probs = builder.add("Softmax", scores, axis=-1)
    context = builder.add("MatMul", probs, value)
    context = builder.add("Transpose", context, perm=(0, 2, 1, 3))
    joined = builder.constant([0, 0, heads * size], np.int64)
    context = builder.add("Reshape", context, joined)
    outputs = builder.dense(context, block.attention_output)
    outputs = builder.add("Add", outputs, inputs)
    attended = builder.layer_norm(outputs, block.attention_layer_norm)
    outputs = builder.dense(attended, block.intermediate)
    outputs = builder.activate(outputs, builder.bert_config.hidden_act)
    outputs = builder.dense(outputs, block.output_dense)
    outputs = builder.add("Add", outputs, attended)
    return builder.layer_norm(outputs, block.output_layer_norm)


def _add_lstm(
    builder: GraphBuilder,
    layer: BidirectionalLSTM,
    inputs: str,
    mask: str,
    last: str,
) -> EncoderOutputNames:
    """Adds an LSTM, whose pooled output is the last output of each direction.

    Padding must be at the end of inputs. `last` is the last position that is
    not padding.
    """
    half = layer.hidden_size // 2
    # ONNX also has biases of the recurrent kernel, which are 0.
    bias = np.pad(_read_gates(layer, "bias"), [(0, 0), (0, 4 * half)])
    one = builder.constant([1], np.int64)
    lengths = builder.add("ReduceSum", mask, one, keepdims=0)
    outputs = builder.add(
        "LSTM",
        builder.add("Transpose", inputs, perm=(1, 0, 2)),
        builder.constant(_read_gates(layer, "kernel")),
        builder.constant(_read_gates(layer, "recurrent_kernel")),
        builder.constant(bias),
        builder.add("Cast", lengths, to=TensorProto.INT32),
        direction="bidirectional",
        hidden_size=half,
    )
    # [T, 2, B, W / 2] -> [2, B, T, W / 2]
    outputs = builder.add("Transpose", outputs, perm=(1, 2, 0, 3))
    forward = builder.select(outputs, 0, axis=0)
    backward = builder.select(outputs, 1, axis=0)
    ends = [
        builder.add("GatherND", forward, last, batch_dims=1),
        builder.select(backward, 0, axis=1),
    ]
    return EncoderOutputNames(
        builder.add("Concat", forward, backward, axis=-1),
        builder.add("Concat", *ends, axis=-1),
    )


def _read_gates(layer: BidirectionalLSTM, name: str) -> FloatArray:
    """Returns a weight of both directions, [2, gates, ...], as ONNX orders it.

    Keras stores the gates as input, forget, cell, output, but ONNX as input,
    output, forget, cell.
    """
    directions = []
    for directed in (layer.both.forward_layer, layer.both.backward_layer):
        value = keras.ops.convert_to_numpy(getattr(directed.cell, name))
        input_, forget, cell, output = np.split(value.T, 4)
        directions.append(np.concatenate([input_, output, forget, cell]))
    return np.stack(directions)
