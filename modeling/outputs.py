"""Types of what the task models return.

In shapes, B = batch, T = length in WordPieces, P = masked positions and V =
vocabulary size.
"""

from typing import TypeAlias, TypedDict

from modeling.tensors import Features, Tensor


class PretrainerOutputs(TypedDict):
    """The outputs of `BertPretrainer`.

    Attributes:
        masked_lm_logits: float [B, P, V].
        next_sentence_logits: float [B, 2], class 0 = the next sentence, 1 = a
            random sentence.
    """

    masked_lm_logits: Tensor
    next_sentence_logits: Tensor


class SpanOutputs(TypedDict):
    """The outputs of `BertSpanLabeler`.

    Attributes:
        start_logits: logits of where the answer starts, float [B, T].
        end_logits: logits of where the answer ends, float [B, T].
    """

    start_logits: Tensor
    end_logits: Tensor


# What a model returns: one tensor, or {name: tensor}. A model of your own may
# return any names.
Outputs: TypeAlias = Tensor | PretrainerOutputs | SpanOutputs | Features
