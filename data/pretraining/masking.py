"""Masks an instance with the random draws of Google's code.

The method is from Devlin et al. 2018, section 3.1 and appendix A.1. With the
same seed, this module draws the same random numbers as Google's
create_pretraining_data.py. dynamic_masking.py masks with the same
probabilities.
"""

import itertools
import random
from collections.abc import MutableSequence, Sequence

from data.pretraining.documents import Continuation, Pieces
from data.pretraining.options import InstanceOptions


def create_masked_lm_predictions(
    tokens: Sequence[bytes],
    candidates: list[int],
    pieces: Pieces,
    rng: random.Random,
    options: InstanceOptions,
) -> tuple[list[bytes], list[int], list[bytes]]:
    """Chooses and masks the WordPieces to predict.

    A chosen WordPiece becomes [MASK] with the probability `mask_token_prob`
    (by default 0.8), stays unchanged with `same_token_prob` (0.1), and becomes
    a random WordPiece otherwise. This is drawn for each WordPiece, or once for
    each word if the option `whole_word_draw` is on.

    `candidates` are the positions of all WordPieces except [CLS] and [SEP].
    The function may shuffle this list in place.

    Returns:
        (tokens after masking, masked positions in ascending order, original
        WordPieces at these positions).
    """
    num_to_predict = min(
        options.max_predictions_per_seq,
        max(1, int(round(len(tokens) * options.masked_lm_prob))),
    )
    if options.do_whole_word_mask:
        # For each word, the positions of its WordPieces.
        words: list[list[int]] = []
        for index in candidates:
            if words and isinstance(tokens[index], Continuation):
                words[-1].append(index)
            else:
                words.append([index])
        shuffle(words, rng)
        chosen: list[int] = []
        # Skip a word that is too long for the remaining predictions.
        for word in words:
            if len(chosen) + len(word) <= num_to_predict:
                chosen.extend(word)
            if len(chosen) == num_to_predict:
                break
    else:
        shuffle(candidates, rng)
        chosen = candidates[:num_to_predict]

    # same_of_others: fraction of unchanged WordPieces among the ones that do
    # not become [MASK]. It is rounded, so that 0.1 / (1.0 - 0.8) is exactly
    # 0.5, as in Google's code.
    mask, mask_prob = pieces["[MASK]"], options.mask_token_prob
    same_of_others = 0.0
    if mask_prob < 1.0:
        same_of_others = round(options.same_token_prob / (1.0 - mask_prob), 9)
    random_draw = rng.random
    output_tokens = list(tokens)
    for index in chosen:
        if random_draw() < mask_prob:
            output_tokens[index] = mask
        elif random_draw() >= same_of_others:
            output_tokens[index] = rng.choice(pieces.words)
    chosen.sort()
    if options.whole_word_draw:
        _repeat_draws(tokens, output_tokens, chosen, pieces, rng)
    return output_tokens, chosen, [tokens[index] for index in chosen]


def _repeat_draws(
    tokens: Sequence[bytes],
    output_tokens: list[bytes],
    chosen: Sequence[int],
    pieces: Pieces,
    rng: random.Random,
) -> None:
    """Masks, keeps or replaces all WordPieces of a word like the first one.

    Changes `output_tokens` in place. `tokens` are the original WordPieces, and
    `chosen` the masked positions in ascending order.
    """
    for previous, index in itertools.pairwise(chosen):
        if not all(
            isinstance(token, Continuation)
            for token in tokens[previous + 1 : index + 1]
        ):
            continue
        if output_tokens[previous] == pieces["[MASK]"]:
            output_tokens[index] = pieces["[MASK]"]
        elif output_tokens[previous] == tokens[previous]:
            output_tokens[index] = tokens[index]
        else:
            output_tokens[index] = rng.choice(pieces.words)


def shuffle(items: MutableSequence, rng: random.Random) -> None:
    """Shuffles exactly as rng.shuffle(items) does, in half the time."""
    getrandbits = rng.getrandbits
    bound = len(items)
    while bound > 1:
        # To save time, compute the number of random bits only once for all
        # bounds of the same bit length.
        num_bits = bound.bit_length()
        lowest = 1 << (num_bits - 1)
        for last in range(bound - 1, lowest - 2, -1):
            draw = getrandbits(num_bits)
            while draw > last:
                draw = getrandbits(num_bits)
            items[last], items[draw] = items[draw], items[last]
        bound = lowest - 1
