"""The format of an export, which writers and readers agree on.

An export contains its network in one or several formats, each in a file of its
own, which an engine of serving/ runs. The argument and the flag `engine` choose
one of them.

In all formats, the network returns the outputs of the signature `ids`:

    classifier            `probabilities` of the labels. In regression,
                          `values`. With a `doc_stride`, the `logits` of each
                          window, because the probabilities of confident windows
                          are equal
    token classifier      `probabilities` of the tags at each position
    multiple choice       `probabilities` of the choices
    span labeler          `start_logits` and `end_logits`

A model that is not exported returns logits. Its training task computes scores
from them, and can score an export too if the outputs of the export become
logits again (`to_logits`).
"""

from typing import Final, Literal, TypeAlias, get_args

from data.arrays import FloatArray
from data.probabilities import to_log_probabilities
from model_folders import kinds
from model_folders.head_settings import HeadSettings, output_mode_of
from model_folders.kinds import ModelClass
from model_folders.output_modes import (
    CLASSIFICATION,
    MULTILABEL,
    REGRESSION,
    OutputMode,
)

# Format of the network in an export, which an engine of the same name runs.
ExportFormat: TypeAlias = Literal["saved_model", "litert", "onnx"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
# {format: path of the network inside the folder of an export}. On a CPU,
# `load_engine` chooses the first of these formats that it can run.
FILE_OF_FORMAT: dict[ExportFormat, str] = {
    "litert": "model.tflite",
    "onnx": "onnx/model.onnx",
    "saved_model": "saved_model.pb",
}
# {format: Python package that runs the network}
PACKAGE_OF_FORMAT: dict[ExportFormat, str] = {
    "litert": "ai_edge_litert",
    "onnx": "onnxruntime",
    "saved_model": "tensorflow",
}
# In ONNX files, inputs and outputs have the names of Hugging Face's files:
# {name of an input in this project: its name in the file}
ONNX_NAME_OF_INPUT = {
    "input_ids": "input_ids",
    "input_mask": "attention_mask",
    "segment_ids": "token_type_ids",
}
# {name of an output in the file: its name in this project}
OWN_NAME_OF_OUTPUT = {
    "last_hidden_state": "sequence_output",
    "pooler_output": "pooled_output",
}


# What an export computes from the logits in its signature `ids`.
# For an output mode, it is what the logits mean in this mode.
ExportedOutput: TypeAlias = Literal["logits"] | OutputMode
LOGITS: Final = "logits"


def exported_output_of(
    model_class: ModelClass, head_settings: HeadSettings
) -> ExportedOutput:
    """Returns the output that the export of a model computes from logits.

    Args:
        model_class: class of the model.
        head_settings: settings of the head, which model.json records. Those of
            other heads than a classifier are not read.

    Returns:
        LOGITS: the logits themselves. CLASSIFICATION: their softmax.
        MULTILABEL: their sigmoids. REGRESSION: the single logit as a value.
    """
    kind = kinds.KIND_OF_CLASS[model_class]
    if kind.exports_logits:
        return LOGITS
    if not kind.classifies_texts:
        return CLASSIFICATION
    output_mode = output_mode_of(head_settings)
    if head_settings.get("doc_stride") and output_mode != REGRESSION:
        return LOGITS
    return output_mode


def output_name_of(exported_output: ExportedOutput) -> str:
    """Returns the name of the output that contains an `exported_output`."""
    names = {LOGITS: "logits", REGRESSION: "values"}
    return names.get(exported_output, "probabilities")


def to_logits(
    model_class: ModelClass,
    head_settings: HeadSettings,
    outputs: dict[str, FloatArray],
) -> FloatArray | dict[str, FloatArray]:
    """Converts outputs of the signature `ids` to the logits of the model.

    The softmax loses a constant, which changes no score.

    Args:
        model_class: class of the model. Not an encoder or a pretrainer, whose
            outputs are not logits of labels.
        head_settings: settings of the head, which model.json records. Those of
            other heads than a classifier are not read.
        outputs: {name: array} for a batch of B inputs of T WordPieces.

    Returns:
        float [B, labels], [B, T, tags] or [B, choices]. For a span labeler, or
        another head of several outputs, a dict of them: {"start_logits",
        "end_logits": float [B, T]}.
    """
    exported_output = exported_output_of(model_class, head_settings)
    if exported_output == LOGITS:
        # The logits of a head of several outputs are all outputs.
        return outputs.get("logits", outputs)
    if exported_output == REGRESSION:
        return outputs["values"][:, None]
    probabilities = outputs["probabilities"]
    if exported_output == MULTILABEL:
        # 0 for a probability of 0.5, above which a label is predicted.
        log_odds: FloatArray = to_log_probabilities(probabilities)
        log_odds = log_odds - to_log_probabilities(1 - probabilities)
        return log_odds
    return to_log_probabilities(probabilities)
