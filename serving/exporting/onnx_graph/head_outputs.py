"""Adds the head of a model to an ONNX graph, a function for each kind of model.

B = batch size, C = choices, T = length in WordPieces, W = hidden size.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from model_folders import kinds
from modeling import BertModel
from modeling.base_model import BaseModel
from modeling.task_models import (
    BertClassifier,
    BertMultipleChoice,
    BertPretrainer,
    BertSpanLabeler,
    BertTokenClassifier,
)
from serving import engines
from serving.engines import exported_outputs
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


class HeadInputs(NamedTuple):
    """The inputs of a head, and the kind of the output to compute.

    Attributes:
        encoded: outputs of the encoder.
        shape: shape of the graph's inputs, [B, T] or [B, C, T].
        exported_output: what to compute from the logits of labels (see
            exported_outputs.py).
    """

    encoded: EncoderOutputNames
    shape: TensorShape
    exported_output: exported_outputs.ExportedOutput


def add_head(
    builder: GraphBuilder, model: BaseModel, inputs: HeadInputs
) -> GraphOutputs:
    """Adds the head of a model, and returns the outputs of the graph.

    Raises:
        TypeError: no function adds the head of the model's class.
    """
    model_class = kinds.model_class_of(model)
    if model_class not in _HEAD_ADDER_OF_CLASS:
        raise TypeError(f"a {model_class} has no head for ONNX")
    return _HEAD_ADDER_OF_CLASS[model_class](builder, model, inputs)


def _add_no_head(
    builder: GraphBuilder, model: BertModel, inputs: HeadInputs
) -> GraphOutputs:
    """Returns the outputs of the encoder, which has no head."""
    shape = inputs.shape
    width = model.config.hidden_size
    return {
        "last_hidden_state": GraphOutput(
            inputs.encoded.sequence, [*shape, width]
        ),
        "pooler_output": GraphOutput(
            inputs.encoded.pooled, [*shape[:1], width]
        ),
    }


def _add_pretrainer(
    builder: GraphBuilder, model: BertPretrainer, inputs: HeadInputs
) -> GraphOutputs:
    """Adds both heads of a pretrainer, for words at all positions."""
    words = _add_masked_lm(builder, model, inputs.encoded.sequence)
    follows = builder.dense(inputs.encoded.pooled, model.next_sentence)
    sizes = [*inputs.shape, builder.bert_config.vocab_size]
    return {
        "logits": GraphOutput(words, sizes),
        "masked_lm_probabilities": GraphOutput(
            builder.add("Softmax", words), sizes
        ),
        "next_sentence_probabilities": GraphOutput(
            builder.add("Softmax", follows), [*inputs.shape[:1], 2]
        ),
    }


def _add_masked_lm(
    builder: GraphBuilder, model: BertPretrainer, sequence: str
) -> str:
    """Adds the logits of all words at all positions."""
    head = model.masked_lm
    outputs = builder.dense(sequence, head.dense)
    outputs = builder.activate(outputs, builder.bert_config.hidden_act)
    outputs = builder.layer_norm(outputs, head.layer_norm)
    words = builder.weight(model.bert.embeddings.word_embeddings)
    kernel = builder.add("Transpose", words, perm=(1, 0))
    outputs = builder.add("MatMul", outputs, kernel)
    return builder.add("Add", outputs, builder.weight(head.output_bias))


def _add_span_labeler(
    builder: GraphBuilder, model: BertSpanLabeler, inputs: HeadInputs
) -> GraphOutputs:
    """Adds the logits of the start and the end of an answer."""
    logits = builder.dense(inputs.encoded.sequence, model.head)
    return {
        name: GraphOutput(builder.select(logits, index, axis=-1), inputs.shape)
        for index, name in enumerate(("start_logits", "end_logits"))
    }


def _add_token_classifier(
    builder: GraphBuilder, model: BertTokenClassifier, inputs: HeadInputs
) -> GraphOutputs:
    """Adds a head of labels that reads every position."""
    logits = builder.dense(inputs.encoded.sequence, model.head)
    shape = [*inputs.shape, model.num_labels]
    return _add_labels(
        builder, GraphOutput(logits, shape), inputs.exported_output
    )


def _add_classifier(
    builder: GraphBuilder, model: BertClassifier, inputs: HeadInputs
) -> GraphOutputs:
    """Adds a head of labels that reads the pooled output."""
    logits = builder.dense(inputs.encoded.pooled, model.head)
    shape = [*inputs.shape[:1], model.num_labels]
    return _add_labels(
        builder, GraphOutput(logits, shape), inputs.exported_output
    )


def _add_multiple_choice(
    builder: GraphBuilder, model: BertMultipleChoice, inputs: HeadInputs
) -> GraphOutputs:
    """Adds a head that compares the choices as if they were labels."""
    logits = builder.dense(inputs.encoded.pooled, model.head)
    ids = engines.ONNX_NAME_OF_INPUT["input_ids"]
    choices = builder.add("Shape", ids, start=0, end=2)
    logits = builder.add("Reshape", logits, choices)
    shape = inputs.shape[:2]
    return _add_labels(
        builder, GraphOutput(logits, shape), inputs.exported_output
    )


def _add_labels(
    builder: GraphBuilder,
    logits: GraphOutput,
    exported_output: exported_outputs.ExportedOutput,
) -> GraphOutputs:
    """Adds the outputs that a head of labels computes from its logits."""
    outputs = {"logits": logits}
    if exported_output == exported_outputs.LOGITS:
        return outputs
    if exported_output == exported_outputs.REGRESSION:
        values = builder.select(logits.tensor, 0, axis=-1)
        return outputs | {"values": GraphOutput(values, logits.shape[:1])}
    is_multilabel = exported_output == exported_outputs.MULTILABEL
    operation = "Sigmoid" if is_multilabel else "Softmax"
    probabilities = builder.add(operation, logits.tensor)
    return outputs | {"probabilities": GraphOutput(probabilities, logits.shape)}


# {class of a model: function that adds its head}. Any, because each function
# accepts only models of its class.
_HEAD_ADDER_OF_CLASS: dict[
    kinds.ModelClass,
    Callable[[GraphBuilder, Any, HeadInputs], GraphOutputs],
] = {
    kinds.CLASSIFIER: _add_classifier,
    kinds.ENCODER: _add_no_head,
    kinds.MULTIPLE_CHOICE: _add_multiple_choice,
    kinds.PRETRAINER: _add_pretrainer,
    kinds.SPAN_LABELER: _add_span_labeler,
    kinds.TOKEN_CLASSIFIER: _add_token_classifier,
}
