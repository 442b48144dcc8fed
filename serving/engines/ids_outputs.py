"""The outputs of the signature `ids`, and the way back to their logits.

The signature `ids` of each kind of model returns

    classifier            `probabilities` of the labels. In regression,
                          `values`. With a `doc_stride`, the `logits` of each
                          window, because the probabilities of confident windows
                          are equal
    token classifier      `probabilities` of the tags at each position
    multiple choice       `probabilities` of the choices
    span labeler          `start_logits` and `end_logits`

A model that is not exported returns logits. Its training task computes scores
from them, and can score an export too if the outputs of the export become
logits again.
"""

from typing import Final, Literal, TypeAlias

from data.arrays import FloatArray
from data.probabilities import to_log_probabilities
from model_folders import kinds
from model_folders.kinds import ModelClass, OutputMode
from model_folders.model_json import ClassifierSettings
from serving.engines import OutputArrays

# What an export computes from the logits in its signature `ids`.
# For an output mode, it is what the logits mean in this mode.
ExportedOutput: TypeAlias = Literal["logits"] | OutputMode
LOGITS: Final = "logits"


def exported_output_of(
    model_class: ModelClass, head_settings: ClassifierSettings
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
        return kinds.CLASSIFICATION
    output_mode = output_mode_of(head_settings)
    if head_settings.get("doc_stride") and output_mode != kinds.REGRESSION:
        return LOGITS
    return output_mode


def output_mode_of(head_settings: ClassifierSettings) -> OutputMode:
    """Returns the `output_mode` of a classifier, CLASSIFICATION by default."""
    return head_settings.get("output_mode") or kinds.CLASSIFICATION


def output_name_of(exported_output: ExportedOutput) -> str:
    """Returns the name of the output that contains an `exported_output`."""
    names = {LOGITS: "logits", kinds.REGRESSION: "values"}
    return names.get(exported_output, "probabilities")


def to_logits(
    model_class: ModelClass,
    head_settings: ClassifierSettings,
    outputs: OutputArrays,
) -> FloatArray | OutputArrays:
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
    if exported_output == kinds.REGRESSION:
        return outputs["values"][:, None]
    probabilities = outputs["probabilities"]
    if exported_output == kinds.MULTILABEL:
        # 0 for a probability of 0.5, above which a label is predicted.
        log_odds: FloatArray = to_log_probabilities(probabilities)
        log_odds = log_odds - to_log_probabilities(1 - probabilities)
        return log_odds
    return to_log_probabilities(probabilities)
