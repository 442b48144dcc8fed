"""Masks an instance with the original's random draws.

Devlin et al. 2018, section 3.1 and appendix A.1; the original's
create_pretraining_data.py. at_scale/masking.py and dynamic_masking.py mask with
the same probabilities.
"""

import random
from collections.abc import MutableSequence, Sequence

from data.pretraining.options import InstanceOptions


def create_masked_lm_predictions(
    tokens: Sequence[str],
    vocab_words: Sequence[str],
    rng: random.Random,
    options: InstanceOptions,
) -> tuple[list[str], list[int], list[str]]:
    """Masks WordPieces to be predicted.

    Of those chosen, `mask_token_prob` (80%) become [MASK], `same_token_prob`
    (10%) stay, and the rest become random words; each WordPiece of a whole
    word has a draw of its own.

    Args:
        tokens: list of str with [CLS] and [SEP], which are never masked.
        vocab_words: list of str that random words are drawn from.
        rng: random.Random.
        options: see `instances.create_training_instances`.

    Returns:
        (tokens after masking, positions ascending, labels), three lists.
    """
    whole_words = options.do_whole_word_mask
    candidates: list = [
        index
        for index, token in enumerate(tokens)
        if token != "[CLS]" and token != "[SEP]"
    ]
    if whole_words:
        pieces, candidates = candidates, []
        for index in pieces:
            if candidates and tokens[index].startswith("##"):
                candidates[-1].append(index)
            else:
                candidates.append([index])
    shuffle(candidates, rng)
    num_to_predict = min(
        options.max_predictions_per_seq,
        max(1, int(round(len(tokens) * options.masked_lm_prob))),
    )
    if whole_words:
        # A word that would exceed the number is skipped.
        chosen: list[int] = []
        for word in candidates:
            if len(chosen) + len(word) <= num_to_predict:
                chosen.extend(word)
    else:
        chosen = candidates[:num_to_predict]

    # Share kept among those not replaced by [MASK]; rounded so that 0.1 / 0.2
    # gives 0.5.
    mask_prob = options.mask_token_prob
    same_of_others = 0.0
    if mask_prob < 1.0:
        same_of_others = round(options.same_token_prob / (1.0 - mask_prob), 9)
    random_draw = rng.random
    output_tokens = list(tokens)
    for index in chosen:
        if random_draw() < mask_prob:
            output_tokens[index] = "[MASK]"
        elif random_draw() >= same_of_others:
            output_tokens[index] = rng.choice(vocab_words)
    chosen.sort()
    return output_tokens, chosen, [tokens[index] for index in chosen]


def shuffle(items: MutableSequence, rng: random.Random) -> None:
    """Shuffles exactly as rng.shuffle(items), in less than half the time."""
    getrandbits = rng.getrandbits
    bound = len(items)
    while bound > 1:
        # Bounds of the same bit length are handled together.
        num_bits = bound.bit_length()
        lowest = 1 << (num_bits - 1)
        for last in range(bound - 1, lowest - 2, -1):
            draw = getrandbits(num_bits)
            while draw > last:
                draw = getrandbits(num_bits)
            items[last], items[draw] = items[draw], items[last]
        bound = lowest - 1
