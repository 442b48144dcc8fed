"""Builds an ONNX graph from a model's weights, node by node.

B = batch size, C = choices, T = length in WordPieces, W = hidden size, N =
attention heads.
"""

import math
from typing import Any, NamedTuple

import keras
import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike
from onnx import TensorProto, helper, numpy_helper

from model_folders import kinds
from model_folders.bert_config import BertConfig
from modeling import BertModel
from modeling.base_model import FeaturesModel
from modeling.embeddings import Embeddings
from modeling.encoder import TransformerBlock
from modeling.heads import BidirectionalLSTM, OutputHead
from modeling.task_models import BertPretrainer, TaskModel
from serving import engines, head_outputs

# Shape of a tensor. A str is the name of a size that is known only at run time.
TensorShape = list[int | str]


class Output(NamedTuple):
    """An output of the graph.

    Attributes:
        tensor: name of its tensor.
        shape: shape of the tensor.
    """

    tensor: str
    shape: TensorShape


class GraphBuilder:
    """Collects the nodes and weights of a graph.

    The methods accept names of tensors, add nodes that compute a new tensor,
    and return its name.

    Attributes:
        config: configuration of the model.
        nodes: the nodes, in the order in which they are computed.
        weights: {name: tensor} of the weights and constants.
    """

    def __init__(self, config: BertConfig) -> None:
        self.config = config
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, TensorProto] = {}

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

    def weight(self, variable: keras.Variable, transpose: bool = False) -> str:
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
            epsilon=self.config.layer_norm_eps,
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
            # ONNX Runtime fuses exactly these operations. Its module
            # `transformers.optimizer` would replace Gelu(approximate="tanh")
            # by the exact function.
            cube = self.add("Pow", inputs, self.constant(3.0))
            cube = self.add("Mul", cube, self.constant(0.044715))
            inner = self.add("Add", inputs, cube)
            inner = self.add(
                "Mul", inner, self.constant(math.sqrt(2 / math.pi))
            )
            outer = self.add("Add", self.add("Tanh", inner), self.constant(1.0))
            half = self.add("Mul", inputs, self.constant(0.5))
            return self.add("Mul", half, outer)
        return self.add(hidden_act.capitalize(), inputs)

    def encode(
        self,
        bert: BertModel,
        bilstm: BidirectionalLSTM | None,
        ids: str,
        mask: str,
        segments: str,
    ) -> tuple[str, str]:
        """Returns the outputs at all positions, and the pooled output."""
        one = self.constant([1], np.int64)
        places = self.count_places(ids, one)
        outputs = self.embed(bert.embeddings, ids, segments, places)
        adder = self.hide_padding(
            ids, mask, places, one=one, left_to_right=bert.left_to_right
        )
        for block in bert.encoder.blocks:
            outputs = self.apply_block(block, outputs, adder)
        if bilstm or bert.left_to_right:
            ends = self.add("Mul", mask, places)
            last = self.add("ReduceMax", ends, one, keepdims=1)
        if bilstm:
            return self.apply_lstm(bilstm, outputs, mask, last)
        if bert.left_to_right:
            first = self.add("GatherND", outputs, last, batch_dims=1)
        else:
            first = self.select(outputs, 0, axis=1)
        return outputs, self.add("Tanh", self.dense(first, bert.pooler))

    def count_places(self, ids: str, one: str) -> str:
        """Returns the positions 0, 1, 2, ..., int64 [B, T].

        ONNX Runtime's fused embedding requires exactly these operations.
        """
        ones = self.add("Add", self.add("Sub", ids, ids), one)
        # The standard wants a scalar for the axis of CumSum.
        axis = self.constant(1, np.int64)
        return self.add("CumSum", ones, axis, exclusive=1)

    def hide_padding(
        self, ids: str, mask: str, places: str, *, one: str, left_to_right: bool
    ) -> str:
        """Returns what to add to attention scores, [B, 1, T or 1, T].

        It is 0 where a position may attend to another, else -10000.
        """
        real = self.add("Unsqueeze", mask, one)
        real = self.add("Unsqueeze", real, self.constant([2], np.int64))
        real = self.add("Cast", real, to=TensorProto.FLOAT)
        if left_to_right:
            axes = self.constant([1, 3], np.int64)
            rows = self.add("Unsqueeze", places, axes)
            axes = self.constant([1, 2], np.int64)
            columns = self.add("Unsqueeze", places, axes)
            past = self.add("GreaterOrEqual", rows, columns)
            past = self.add("Cast", past, to=TensorProto.FLOAT)
            real = self.add("Mul", real, past)
        # `limit` is a slice of a constant that is as long as the position
        # table. If the inputs are longer, the slice is shorter than `real`, so
        # `Sub` fails. Without this check, some runtimes would read zeros beyond
        # the position table.
        zero = self.constant([0], np.int64)
        length = self.add("Shape", ids, start=1, end=2)
        ones = self.constant(np.ones(self.config.max_position_embeddings))
        limit = self.add("Slice", ones, zero, length, zero)
        hidden = self.add("Sub", limit, real)
        return self.add("Mul", hidden, self.constant(-10000.0))

    def embed(
        self, layer: Embeddings, ids: str, segments: str, places: str
    ) -> str:
        """Returns the sum of the three embeddings, normalized."""

        def look_up(table: keras.Variable, rows: str) -> str:
            return self.add("Gather", self.weight(table), rows)

        words = look_up(layer.word_embeddings, ids)
        types = look_up(layer.token_type_embeddings, segments)
        positions = look_up(layer.position_embeddings, places)
        summed = self.add("Add", self.add("Add", words, types), positions)
        return self.layer_norm(summed, layer.layer_norm)

    def apply_block(
        self, block: TransformerBlock, inputs: str, adder: str
    ) -> str:
        """Applies a Transformer block. `adder` is added to attention scores."""
        heads = self.config.num_attention_heads
        size = self.config.hidden_size // heads
        split = self.constant([0, 0, heads, size], np.int64)
        attention = block.attention
        query, key, value = (
            self.add(
                "Transpose",
                self.add("Reshape", self.dense(inputs, layer), split),
                perm=perm,
            )
            for layer, perm in (
                (attention.query, (0, 2, 1, 3)),
                (attention.key, (0, 2, 3, 1)),
                (attention.value, (0, 2, 1, 3)),
            )
        )
        scores = self.add("MatMul", query, key)
        scores = self.add("Div", scores, self.constant(math.sqrt(size)))
        scores = self.add("Add", scores, adder)
        probs = self.add("Softmax", scores, axis=-1)
        context = self.add("MatMul", probs, value)
        context = self.add("Transpose", context, perm=(0, 2, 1, 3))
        joined = self.constant([0, 0, heads * size], np.int64)
        context = self.add("Reshape", context, joined)
        outputs = self.dense(context, block.attention_output)
        outputs = self.add("Add", outputs, inputs)
        attended = self.layer_norm(outputs, block.attention_layer_norm)
        outputs = self.dense(attended, block.intermediate)
        outputs = self.activate(outputs, self.config.hidden_act)
        outputs = self.dense(outputs, block.output_dense)
        outputs = self.add("Add", outputs, attended)
        return self.layer_norm(outputs, block.output_layer_norm)

    def apply_lstm(
        self, layer: BidirectionalLSTM, inputs: str, mask: str, last: str
    ) -> tuple[str, str]:
        """Returns the outputs at all positions, and the last of each direction.

        Padding must be at the end of inputs. `last` is the last position that
        is not padding.
        """
        half = layer.hidden_size // 2
        layers = layer.both.forward_layer, layer.both.backward_layer
        cells = [directed.cell for directed in layers]

        def join(name: str, extra: int = 0) -> str:
            # Keras stores the gates as input, forget, cell, output, but ONNX as
            # input, output, forget, cell.
            rows = []
            for cell in cells:
                value = keras.ops.convert_to_numpy(getattr(cell, name))
                input_, forget, cell_, output = np.split(value.T, 4)
                row = np.concatenate([input_, output, forget, cell_])
                rows.append(np.pad(row, [(0, extra)]) if extra else row)
            return self.constant(np.stack(rows))

        one = self.constant([1], np.int64)
        lengths = self.add("ReduceSum", mask, one, keepdims=0)
        outputs = self.add(
            "LSTM",
            self.add("Transpose", inputs, perm=(1, 0, 2)),
            join("kernel"),
            join("recurrent_kernel"),
            join("bias", 4 * half),
            self.add("Cast", lengths, to=TensorProto.INT32),
            direction="bidirectional",
            hidden_size=half,
        )
        # [T, 2, B, W / 2] -> [2, B, T, W / 2]
        outputs = self.add("Transpose", outputs, perm=(1, 2, 0, 3))
        forward = self.select(outputs, 0, axis=0)
        backward = self.select(outputs, 1, axis=0)
        ends = [
            self.add("GatherND", forward, last, batch_dims=1),
            self.select(backward, 0, axis=1),
        ]
        return (
            self.add("Concat", forward, backward, axis=-1),
            self.add("Concat", *ends, axis=-1),
        )

    def apply_head(
        self,
        model: FeaturesModel,
        output_kind: head_outputs.OutputKind,
        encoded: tuple[str, str],
        shape: TensorShape,
    ) -> dict[str, Output]:
        """Returns {name: output} of the graph.

        `encoded` is the result of `encode`, `shape` the shape of the inputs.
        """
        kind = kinds.kind_of(model)
        sequence, pooled = encoded
        if kind == kinds.ENCODER:
            width = self.config.hidden_size
            return {
                "last_hidden_state": Output(sequence, [*shape, width]),
                "pooler_output": Output(pooled, [*shape[:1], width]),
            }
        if isinstance(model, BertPretrainer):
            return self.apply_pretrainer(model, sequence, pooled, shape)
        assert isinstance(model, TaskModel)
        if kind == kinds.SPAN_LABELER:
            logits = self.dense(sequence, model.head)
            return {
                name: Output(self.select(logits, index, axis=-1), shape)
                for index, name in enumerate(("start_logits", "end_logits"))
            }
        is_token = kind == kinds.TOKEN_CLASSIFIER
        logits = self.dense(sequence if is_token else pooled, model.head)
        if kind == kinds.MULTIPLE_CHOICE:
            ids = engines.INPUTS["input_ids"]
            choices = self.add("Shape", ids, start=0, end=2)
            logits = self.add("Reshape", logits, choices)
            return self.apply_labels(output_kind, logits, shape[:2])
        outer = shape if is_token else shape[:1]
        return self.apply_labels(
            output_kind, logits, [*outer, model.num_labels]
        )

    def apply_pretrainer(
        self,
        model: BertPretrainer,
        sequence: str,
        pooled: str,
        shape: TensorShape,
    ) -> dict[str, Output]:
        """Returns {name: Output} of both heads, for words at all positions."""
        words = self.predict_words(model, sequence)
        follows = self.dense(pooled, model.next_sentence)
        sizes = [*shape, self.config.vocab_size]
        return {
            "logits": Output(words, sizes),
            "masked_lm_probabilities": Output(
                self.add("Softmax", words), sizes
            ),
            "next_sentence_probabilities": Output(
                self.add("Softmax", follows), [*shape[:1], 2]
            ),
        }

    def apply_labels(
        self,
        output_kind: head_outputs.OutputKind,
        logits: str,
        shape: TensorShape,
    ) -> dict[str, Output]:
        """Returns the outputs of a head with labels. `logits` has `shape`."""
        outputs = {"logits": Output(logits, shape)}
        if output_kind == head_outputs.LOGITS:
            return outputs
        if output_kind == head_outputs.REGRESSION:
            values = self.select(logits, 0, axis=-1)
            return outputs | {"values": Output(values, shape[:1])}
        is_multilabel = output_kind == head_outputs.MULTILABEL
        operation = "Sigmoid" if is_multilabel else "Softmax"
        probabilities = Output(self.add(operation, logits), shape)
        return outputs | {"probabilities": probabilities}

    def predict_words(self, model: BertPretrainer, sequence: str) -> str:
        """Returns the logits of all words at all positions."""
        head = model.masked_lm
        outputs = self.dense(sequence, head.dense)
        outputs = self.activate(outputs, self.config.hidden_act)
        outputs = self.layer_norm(outputs, head.layer_norm)
        words = self.weight(model.bert.embeddings.word_embeddings)
        kernel = self.add("Transpose", words, perm=(1, 0))
        outputs = self.add("MatMul", outputs, kernel)
        return self.add("Add", outputs, self.weight(head.output_bias))
