"""Masked sentences as text."""

import numpy as np

from data.pretraining import filled_masks

VOCAB = ["[PAD]", "[CLS]", "[MASK]", "a", "har", "##bor", "b"]


def test_words_in_the_order_of_their_places(create_tokenizer):
    features = {
        "input_ids": np.array([[1, 2, 4, 5, 6, 0]]),
        "input_mask": np.array([[1, 1, 1, 1, 1, 0]]),
        "masked_lm_positions": np.array([[4, 1, 0]]),
        "masked_lm_ids": np.array([[3, 6, 0]]),
        "masked_lm_weights": np.array([[1.0, 1.0, 0.0]]),
    }
    # The model has a row more than there are WordPieces.
    logits = np.full([1, 3, len(VOCAB) + 1], -100.0)
    # At the fourth place the model is torn between two WordPieces.
    logits[0, 0, [3, 6]] = np.log([0.75, 0.25])
    logits[0, 1, 4] = 0.0
    tokenizer = create_tokenizer(VOCAB)
    assert filled_masks.describe(features, logits, tokenizer) == [
        {
            "text": "[CLS] [MASK] har ##bor b",
            "right": "b | a",
            "predicted": "har 100.0% | a 75.0%",
        }
    ]
    logits[0, 1, 7] = 9.0
    (found,) = filled_masks.describe(features, logits, tokenizer)
    assert found["predicted"] == "[row 7] 100.0% | a 75.0%"
