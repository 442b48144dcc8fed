"""The ONNX graph of an encoder, and the outputs that a head adds to it.

B = batch size, C = choices, T = length in WordPieces.
"""

import dataclasses
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from model_folders import kinds
from serving.engines import ids_outputs

if TYPE_CHECKING:
    # heads/ also needs this module if the package onnx is not installed, which
    # these modules import.
    from serving.exporting.onnx_graph.encoder_nodes import EncoderOutputNames
    from serving.exporting.onnx_graph.graph_builder import GraphBuilder

# Shape of a tensor. A str is the name of a size that is known only at run time.
TensorShape: TypeAlias = list[int | str]


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
            ids_outputs.py).
    """

    builder: "GraphBuilder"
    encoded: "EncoderOutputNames"
    shape: TensorShape
    exported_output: ids_outputs.ExportedOutput

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
        if self.exported_output == ids_outputs.LOGITS:
            return outputs
        if self.exported_output == kinds.REGRESSION:
            values = self.builder.select(logits, 0, axis=-1)
            return outputs | {"values": GraphOutput(values, shape[:1])}
        is_multilabel = self.exported_output == kinds.MULTILABEL
        operation = "Sigmoid" if is_multilabel else "Softmax"
        probabilities = self.builder.add(operation, logits)
        return outputs | {"probabilities": GraphOutput(probabilities, shape)}
