"""Writes ONNX files: builds an ONNX graph from a model's weights.

The inputs are named as in Hugging Face: input_ids, attention_mask and
token_type_ids, int64 [B, T], or [B, C, T] for multiple choice. B and T are
variable, unless `create_graph` fixes T. The graph computes the same outputs as
the signature `ids` of a SavedModel. Most task models also output "logits", as
in Hugging Face.

B = batch size, C = choices, T = length in WordPieces, W = hidden size, N =
attention heads.
"""

import math
import tempfile
from pathlib import Path
from typing import Any

import keras
import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike
from onnx import TensorProto, helper, numpy_helper

from modeling import BertModel, kinds
from modeling.config import BertConfig
from modeling.embeddings import Embeddings
from modeling.encoder import TransformerBlock
from modeling.heads import BidirectionalLSTM, OutputHead
from serving import engines, head_outputs
from serving.export_options import ExportOptions

# Version of ONNX's operator set. It is the first version that contains Gelu.
_OPSET = 20
# Version of ONNX's file format.
_IR_VERSION = 10
# Shape of a tensor. A str is the name of a size that is known only at run time.
TensorShape = list[int | str]


def write_onnx(
    path: Path, model: keras.Model, output_kind: str, options: ExportOptions
) -> None:
    """Writes the file model.onnx.

    Args:
        path: path of the file.
        model: the model.
        output_kind: what the head computes from its logits (see
            head_outputs.py).
        options: `fixed_length` and `quantize` apply.

    Raises:
        OSError: the file cannot be written.
    """
    precision = options.quantize or "float32"
    graph = create_graph(model, output_kind, options.fixed_length, precision)
    if not options.quantize:
        path.write_bytes(graph.SerializeToString())
        return
    # An optional package, which only quantization needs.
    from onnxruntime import quantization

    # Prevent the warning that the graph should be optimized before it is
    # quantized. ONNX Runtime optimizes the graph that it loads.
    quantization.quant_utils.add_pre_process_metadata(graph)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder, "model.onnx")
        whole.write_bytes(graph.SerializeToString())
        # The standard has no LSTM in int8, only ONNX Runtime has.
        lstms = [x.name for x in graph.graph.node if x.op_type == "LSTM"]
        quantization.quantize_dynamic(
            whole, path, per_channel=True, nodes_to_exclude=lstms
        )


def create_graph(
    model: keras.Model,
    output_kind: str = head_outputs.CLASSIFICATION,
    length: int | None = None,
    precision: str = "float32",
) -> onnx.ModelProto:
    """Returns the ONNX graph of a task's model.

    `model` is a built BertModel, or a built model from modeling.task_models.
    `output_kind` is what the head computes from its logits (see
    head_outputs.py). `length` is a fixed T, or None for a variable T. The
    metadata of the file record `precision`.
    """
    bert = model if isinstance(model, BertModel) else model.bert
    writer = _Writer(bert.config)
    shape: TensorShape = ["batch_size", length or "sequence_length"]
    inputs = features = [*engines.INPUTS.values()]
    if kinds.kind_of(model) == kinds.MULTIPLE_CHOICE:
        shape.insert(1, "num_choices")
        flat = writer.constant([-1], np.int64)
        size = writer.add("Shape", inputs[0], start=2)
        flat = writer.add("Concat", flat, size, axis=0)
        features = [writer.add("Reshape", name, flat) for name in inputs]
    encoded = writer.encode(bert, getattr(model, "bilstm", None), *features)
    outputs = writer.apply_head(model, output_kind, encoded, shape)
    for name, (tensor, _) in outputs.items():
        writer.nodes.append(helper.make_node("Identity", [tensor], [name]))
    describe = helper.make_tensor_value_info
    graph = helper.make_graph(
        writer.nodes,
        model.name,
        [describe(name, TensorProto.INT64, shape) for name in inputs],
        [describe(k, TensorProto.FLOAT, s) for k, (_, s) in outputs.items()],
    )
    created = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="bert",
    )
    helper.set_model_props(created, {"precision": precision})
    # Move the weights one by one, because each `make_` copies its arguments.
    for name in [*writer.weights]:
        created.graph.initializer.append(writer.weights.pop(name))
    return created


class _Writer:
    # The methods accept names of tensors, and return the name of a new tensor.

    def __init__(self, config: BertConfig) -> None:
        self.config = config
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, TensorProto] = {}

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operation}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(operation, inputs, [name], name, **attributes)
        )
        return name

    def constant(self, value: ArrayLike, dtype: DTypeLike = np.float32) -> str:
        name = f"constant_{len(self.weights)}"
        array = np.array(value, dtype)
        self.weights[name] = numpy_helper.from_array(array, name)
        return name

    def weight(self, variable: keras.Variable, transpose: bool = False) -> str:
        name = variable.path
        if name not in self.weights:
            value = keras.ops.convert_to_numpy(variable).astype(np.float32)
            value = np.ascontiguousarray(value.T if transpose else value)
            self.weights[name] = numpy_helper.from_array(value, name)
        return name

    def select(self, inputs: str, index: int, axis: int) -> str:
        indices = self.constant(index, np.int64)
        return self.add("Gather", inputs, indices, axis=axis)

    def dense(self, inputs: str, layer: keras.layers.Dense | OutputHead) -> str:
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
        return self.add(
            "LayerNormalization",
            inputs,
            self.weight(layer.gamma),
            self.weight(layer.beta),
            epsilon=self.config.layer_norm_eps,
        )

    def activate(self, inputs: str, hidden_act: str | None) -> str:
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
        one = self.constant([1], np.int64)
        # Positions 0, 1, 2, ..., int64 [B, T]. ONNX Runtime's fused embedding
        # requires exactly these operations.
        ones = self.add("Add", self.add("Sub", ids, ids), one)
        # The standard wants a scalar for the axis of CumSum.
        axis = self.constant(1, np.int64)
        places = self.add("CumSum", ones, axis, exclusive=1)
        outputs = self.embed(bert.embeddings, ids, segments, places)
        real = self.add("Unsqueeze", mask, one)
        real = self.add("Unsqueeze", real, self.constant([2], np.int64))
        real = self.add("Cast", real, to=TensorProto.FLOAT)
        if bert.left_to_right:
            rows, columns = (
                self.add("Unsqueeze", places, self.constant([1, i], np.int64))
                for i in (3, 2)
            )
            past = self.add("GreaterOrEqual", rows, columns)
            past = self.add("Cast", past, to=TensorProto.FLOAT)
            real = self.add("Mul", real, past)
        # `limit` is a slice of a constant that is as long as the position
        # table. If the inputs are longer, the slice is shorter than `real`, so
        # `Sub` fails. Without this check, some runtimes would read zeros beyond
        # the position table.
        zero = self.constant([0], np.int64)
        length = self.add("Shape", ids, start=1, end=2)
        most = self.config.max_position_embeddings
        limit = self.add(
            "Slice", self.constant(np.ones(most)), zero, length, zero
        )
        hidden = self.add("Sub", limit, real)
        adder = self.add("Mul", hidden, self.constant(-10000.0))
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

    def embed(self, layer: Embeddings, *ids: str) -> str:
        tables = (
            layer.word_embeddings,
            layer.token_type_embeddings,
            layer.position_embeddings,
        )
        words, segments, positions = (
            self.add("Gather", self.weight(table), rows)
            for table, rows in zip(tables, ids, strict=True)
        )
        summed = self.add("Add", self.add("Add", words, segments), positions)
        return self.layer_norm(summed, layer.layer_norm)

    def apply_block(
        self, block: TransformerBlock, inputs: str, adder: str
    ) -> str:
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
        # Padding must be at the end of inputs. Returns the outputs at all
        # positions, and both directions' last outputs.
        half = layer.hidden_size // 2
        cells = [
            one.cell
            for one in (layer.both.forward_layer, layer.both.backward_layer)
        ]

        def join(name: str, extra: int = 0) -> str:
            # Keras stores the gates as input, forget, cell, output, but ONNX as
            # input, output, forget, cell.
            rows = []
            for cell in cells:
                value = keras.ops.convert_to_numpy(getattr(cell, name))
                i, f, c, o = np.split(value.T, 4)
                row = np.concatenate([i, o, f, c])
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
        forward, backward = (self.select(outputs, i, axis=0) for i in (0, 1))
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
        model: keras.Model,
        output_kind: str,
        encoded: tuple[str, str],
        shape: TensorShape,
    ) -> dict[str, tuple[str, TensorShape]]:
        # Returns {output: (name of the tensor, shape)}. `encoded` is the result
        # of `encode`, `shape` the shape of the inputs.
        kind = kinds.kind_of(model)
        sequence, pooled = encoded
        batch = shape[:1]
        width = self.config.hidden_size
        if kind == kinds.ENCODER:
            return {
                "last_hidden_state": (sequence, [*shape, width]),
                "pooler_output": (pooled, [*batch, width]),
            }
        if kind == kinds.PRETRAINER:
            words = self.predict_words(model, sequence)
            follows = self.dense(pooled, model.next_sentence)
            sizes = [*shape, self.config.vocab_size]
            return {
                "logits": (words, sizes),
                "masked_lm_probabilities": (self.add("Softmax", words), sizes),
                "next_sentence_probabilities": (
                    self.add("Softmax", follows),
                    [*batch, 2],
                ),
            }
        if kind == kinds.SPAN_LABELER:
            logits = self.dense(sequence, model.head)
            return {
                name: (self.select(logits, index, axis=-1), shape)
                for index, name in enumerate(("start_logits", "end_logits"))
            }
        is_token = kind == kinds.TOKEN_CLASSIFIER
        logits = self.dense(sequence if is_token else pooled, model.head)
        if kind == kinds.MULTIPLE_CHOICE:
            ids = engines.INPUTS["input_ids"]
            choices = self.add("Shape", ids, start=0, end=2)
            logits = self.add("Reshape", logits, choices)
            shape = shape[:2]
        else:
            outer = shape if is_token else batch
            shape = [*outer, model.num_labels]
        outputs = {"logits": (logits, shape)}
        if output_kind == head_outputs.LOGITS:
            return outputs
        if output_kind == head_outputs.REGRESSION:
            values = self.select(logits, 0, axis=-1)
            return outputs | {"values": (values, batch)}
        is_multilabel = output_kind == head_outputs.MULTILABEL
        operation = "Sigmoid" if is_multilabel else "Softmax"
        return outputs | {"probabilities": (self.add(operation, logits), shape)}

    def predict_words(self, model: keras.Model, sequence: str) -> str:
        head = model.masked_lm
        outputs = self.dense(sequence, head.dense)
        outputs = self.activate(outputs, self.config.hidden_act)
        outputs = self.layer_norm(outputs, head.layer_norm)
        words = self.weight(model.bert.embeddings.word_embeddings)
        kernel = self.add("Transpose", words, perm=(1, 0))
        outputs = self.add("MatMul", outputs, kernel)
        return self.add("Add", outputs, self.weight(head.output_bias))
