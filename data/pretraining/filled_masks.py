"""Formats a model's predictions for masked WordPieces as text.

B = batch size, S = sequence length, P = maximum number of masked positions, V =
size of the model's vocabulary.
"""

from collections.abc import Mapping

import numpy as np

from data.text.tokenization import FullTokenizer


def describe(
    features: Mapping[str, np.ndarray],
    logits: np.ndarray,
    tokenizer: FullTokenizer,
) -> list[dict[str, str]]:
    """Formats masked sequences, and a model's predictions for them, as text.

    Args:
        features: features of pretraining records: `input_ids` and `input_mask`
            [B, S], `masked_lm_positions`, `masked_lm_ids` and
            `masked_lm_weights` [B, P].
        logits: float [B, P, V], the `masked_lm_logits` of BertPretrainer.
        tokenizer: FullTokenizer with the vocabulary of the records.

    Returns:
        B dicts with the keys "text" (the masked sequence), "right" (the
        original WordPieces at the masks) and "predicted" (the most probable
        WordPiece at each mask, with its probability). The values of "right" and
        "predicted" are in the order of the positions, separated by |.
    """
    # Import SciPy late, because it needs half a second to load.
    from scipy import special

    # The model's vocabulary may be padded beyond the tokenizer's WordPieces.
    rows = range(len(tokenizer.tokens), logits.shape[-1])
    vocab = [*tokenizer.tokens, *(f"[row {row}]" for row in rows)]
    found = []
    for row, scores in enumerate(logits):
        is_masked = features["masked_lm_weights"][row] > 0
        places = features["masked_lm_positions"][row][is_masked]
        order = np.flatnonzero(is_masked)[np.argsort(places)]
        shares = special.softmax(scores[order].astype(np.float32), axis=-1)
        ids = features["input_ids"][row][features["input_mask"][row] > 0]
        right = features["masked_lm_ids"][row][order]
        predicted = (f"{vocab[x.argmax()]} {x.max():.1%}" for x in shares)
        found.append(
            {
                "text": " ".join(vocab[token] for token in ids),
                "right": " | ".join(vocab[token] for token in right),
                "predicted": " | ".join(predicted),
            }
        )
    return found
