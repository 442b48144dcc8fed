"""Adds the head of each kind of model to a graph of ONNX.

Each function adds the head of a model to an `EncoderGraph`, and returns the
outputs of the graph. ADD_HEAD_OF_CLASS in onnx_writer.py lists the functions.

B = batch size, C = choices, T = length in WordPieces.
"""

import dataclasses
from typing import NamedTuple, TypeAlias

from exporting import export_formats
from exporting.onnx_graph import EncoderOutputNames, GraphBuilder
from model_folders import output_modes
from modeling import BertModel
from modeling.task_models import (
    BertClassifier,
    BertMultipleChoice,
    BertPretrainer,
    BertSpanLabeler,
    BertTokenClassifier,
)

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
        if self.exported_output == output_modes.REGRESSION:
            values = self.builder.select(logits, 0, axis=-1)
            return outputs | {"values": GraphOutput(values, shape[:1])}
        is_multilabel = self.exported_output == output_modes.MULTILABEL
        operation = "Sigmoid" if is_multilabel else "Softmax"
        probabilities = self.builder.add(operation, logits)
        return outputs | {"probabilities": GraphOutput(probabilities, shape)}


def add_classifier_head(
    model: BertClassifier, graph: EncoderGraph
) -> GraphOutputs:
    """Adds a head of labels that reads the pooled output."""
    logits = graph.builder.dense(graph.encoded.pooled, model.head)
    shape = [*graph.shape[:1], model.num_labels]
    return graph.add_label_outputs(logits, shape)


def add_multiple_choice_head(
    model: BertMultipleChoice, graph: EncoderGraph
) -> GraphOutputs:
    """Adds a head that compares the choices as if they were labels."""
    builder = graph.builder
    logits = builder.dense(graph.encoded.pooled, model.head)
    ids = export_formats.ONNX_NAME_OF_INPUT["input_ids"]
    choices = builder.add("Shape", ids, start=0, end=2)
    logits = builder.add("Reshape", logits, choices)
    return graph.add_label_outputs(logits, graph.shape[:2])


def add_token_classifier_head(
    model: BertTokenClassifier, graph: EncoderGraph
) -> GraphOutputs:
    """Adds a head of labels that reads every position."""
    logits = graph.builder.dense(graph.encoded.sequence, model.head)
    shape = [*graph.shape, model.num_labels]
    return graph.add_label_outputs(logits, shape)


def add_span_labeler_head(
    model: BertSpanLabeler, graph: EncoderGraph
) -> GraphOutputs:
    """Adds the logits of the start and the end of an answer."""
    builder = graph.builder
    logits = builder.dense(graph.encoded.sequence, model.head)
    return {
        name: GraphOutput(builder.select(logits, index, axis=-1), graph.shape)
        for index, name in enumerate(("start_logits", "end_logits"))
    }


def add_pretrainer_heads(
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


def add_encoder_outputs(model: BertModel, graph: EncoderGraph) -> GraphOutputs:
    """Adds nothing: the outputs of the graph are those of the encoder."""
    shape = graph.shape
    width = model.config.hidden_size
    return {
        "last_hidden_state": GraphOutput(
            graph.encoded.sequence, [*shape, width]
        ),
        "pooler_output": GraphOutput(graph.encoded.pooled, [*shape[:1], width]),
    }
