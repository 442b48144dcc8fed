"""Builds an ONNX graph node by node, from the layers that all networks share.

encoder_nodes.py and the exporters put networks together from them.
"""

import math
from typing import Any

import keras
import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike
from onnx import TensorProto, helper, numpy_helper

from model_folders.bert_config import BertConfig
from modeling.heads import OutputHead


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
