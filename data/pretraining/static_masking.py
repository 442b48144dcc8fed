"""Masks WordPieces once, while instances are created, as Google's code does.

The method is from Devlin et al. 2018, appendix A.1. With the same seed, this
module draws the same random numbers as create_masked_lm_predictions in Google's
create_pretraining_data.py. dynamic_masking.py masks with the same
probabilities.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from data.pretraining.instance_encoding import (
    Continuation,
    EncodedToken,
    InstanceContext,
)
from data.pretraining.shuffling import shuffle


class MaskedTokens(NamedTuple):
    """The WordPieces of an instance after masking.

    Attributes:
        tokens: the WordPieces. Most WordPieces to predict are replaced.
        positions: positions of the WordPieces to predict, ascending.
        labels: the original WordPieces at these positions.
    """

    tokens: list[EncodedToken]
    positions: list[int]
    labels: list[EncodedToken]


def create_masked_lm_predictions(
    tokens: Sequence[EncodedToken],
    candidates: Sequence[int],
    context: InstanceContext,
) -> MaskedTokens:
    """Chooses and masks the WordPieces to predict.

    A chosen WordPiece becomes [MASK] with the probability `mask_token_prob`
    (by default 0.8), stays unchanged with `same_token_prob` (0.1), and becomes
    a random WordPiece otherwise.

    Args:
        tokens: the WordPieces of an instance.
        candidates: positions of all WordPieces except [CLS] and [SEP].
        context: the vocabulary, the options and the random draws.
    """
    options = context.options
    num_to_predict = min(
        options.max_predictions_per_seq,
        max(1, round(len(tokens) * options.masked_lm_prob)),
    )
    if options.do_whole_word_mask:
        chosen = _choose_words(tokens, candidates, num_to_predict, context.rng)
    else:
        shuffled = [*candidates]
        shuffle(shuffled, context.rng)
        chosen = shuffled[:num_to_predict]

    # Google's code replaces the WordPieces in the order in which it chose them.
    output_tokens = _replace_tokens(tokens, chosen, context)
    positions = sorted(chosen)
    labels = [tokens[position] for position in positions]
    return MaskedTokens(output_tokens, positions, labels)


def _replace_tokens(
    tokens: Sequence[EncodedToken],
    chosen: Sequence[int],
    context: InstanceContext,
) -> list[EncodedToken]:
    """Returns the tokens after masking the positions in `chosen`."""
    vocabulary, options, rng = context
    # Of the chosen WordPieces that do not become [MASK], the fraction
    # `same_of_others` stays unchanged. It is rounded, so that 0.1 / (1.0 - 0.8)
    # is exactly 0.5, as in Google's code.
    mask = vocabulary["[MASK]"]
    mask_prob = options.mask_token_prob
    same_of_others = 0.0
    if mask_prob < 1.0:
        same_of_others = round(options.same_token_prob / (1.0 - mask_prob), 9)
    random_draw = rng.random
    output_tokens = list(tokens)
    for index in chosen:
        if random_draw() < mask_prob:
            output_tokens[index] = mask
        elif random_draw() >= same_of_others:
            output_tokens[index] = rng.choice(vocabulary.encoded_tokens)
    return output_tokens


def _choose_words(
    tokens: Sequence[EncodedToken],
    candidates: Sequence[int],
    num_to_predict: int,
    rng: random.Random,
) -> list[int]:
    """Chooses whole words to predict, and returns their positions."""
    # For each word, the positions of its WordPieces.
    words: list[list[int]] = []
    for index in candidates:
        if words and isinstance(tokens[index], Continuation):
            words[-1].append(index)
        else:
            words.append([index])
    shuffle(words, rng)
    chosen: list[int] = []
    # Skip a word if masking it would exceed `num_to_predict` WordPieces.
    for word in words:
        if len(chosen) + len(word) <= num_to_predict:
            chosen.extend(word)
        if len(chosen) == num_to_predict:
            break
    return chosen
