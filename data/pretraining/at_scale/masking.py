"""Masks many instances at once, with the original's probabilities.

The counterpart of data/pretraining/masking.py for arrays.
n = instances, F = max_seq_length, P = max_predictions_per_seq.
"""

from collections.abc import Mapping

import numpy as np

from data.pretraining.options import InstanceOptions


def mask_instances(
    input_ids: np.ndarray,
    can_be_masked: np.ndarray,
    begins_word: np.ndarray,
    lengths: np.ndarray,
    options: InstanceOptions,
    vocab: Mapping[str, int],
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    """Masks WordPieces to be predicted.

    Args:
        input_ids: int [n, F].
        can_be_masked: bool [n, F]; False at [CLS], [SEP] and padding.
        begins_word: bool [n, F], where the first WordPiece of a word is; each
            run of what can be masked begins with one.
        lengths: int [n], WordPieces of each instance, special ones too.
        options: InstanceOptions.
        vocab: dict of WordPiece to id.
        rng: np.random.Generator.

    Returns:
        dict: input_ids [n, F] after masking, and of [n, P], zero where there
        are fewer predictions: masked_lm_positions, masked_lm_ids, int, and
        masked_lm_weights, float32.
    """
    max_predictions = options.max_predictions_per_seq
    num_to_predict = np.clip(
        np.rint(lengths * options.masked_lm_prob).astype(int),
        1,
        min(max_predictions, options.max_seq_length),
    )
    # The word of each WordPiece, numbered within the instance.
    words = np.cumsum(begins_word & can_be_masked, axis=1) - 1
    if options.do_whole_word_mask:
        chosen = _choose_words(words, can_be_masked, num_to_predict, rng)
    else:
        chosen = _choose_pieces(can_be_masked, num_to_predict, rng)

    rows, columns = np.nonzero(chosen)
    # The number of each prediction within its instance.
    numbers = (np.cumsum(chosen, axis=1) - 1)[rows, columns]
    labels = input_ids[rows, columns]
    draws = rng.random(chosen.shape)
    if options.whole_word_draw:
        draws = draws[rows, words[rows, columns]]
    else:
        draws = draws[rows, columns]
    masked_ids = input_ids.copy()
    masked_ids[rows, columns] = _replace(labels, draws, options, vocab, rng)
    shape = (len(input_ids), max_predictions)
    features = {
        "input_ids": masked_ids,
        "masked_lm_positions": np.zeros(shape, np.int32),
        "masked_lm_ids": np.zeros(shape, np.int32),
        "masked_lm_weights": np.zeros(shape, np.float32),
    }
    features["masked_lm_positions"][rows, numbers] = columns
    features["masked_lm_ids"][rows, numbers] = labels
    features["masked_lm_weights"][rows, numbers] = 1.0
    return features


def _choose_pieces(
    can_be_masked: np.ndarray,
    num_to_predict: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Returns bool [n, F]: WordPieces drawn one by one, up to the number."""
    keys = rng.random(can_be_masked.shape)
    keys[~can_be_masked] = 2.0
    most = min(num_to_predict.max(), keys.shape[1]) - 1
    smallest = np.sort(np.partition(keys, most, axis=1)[:, : most + 1], axis=1)
    limits = smallest[
        np.arange(len(keys)), np.minimum(num_to_predict - 1, most)
    ]
    return (keys <= limits[:, None]) & can_be_masked


def _choose_words(
    words: np.ndarray,
    can_be_masked: np.ndarray,
    num_to_predict: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Returns bool [n, F]: words drawn one by one, skipping those too long."""
    n, width = words.shape
    slots = np.arange(n)[:, None] * width + words
    word_lengths = np.bincount(
        slots[can_be_masked], minlength=n * width
    ).reshape(n, width)
    keys = rng.random((n, width))
    keys[word_lengths == 0] = 2.0
    order = np.argsort(keys, axis=1)
    ordered_lengths = np.take_along_axis(word_lengths, order, axis=1)
    is_chosen = np.zeros((n, width), bool)
    room = num_to_predict.copy()
    for turn in range(np.count_nonzero(word_lengths, axis=1).max()):
        length = ordered_lengths[:, turn]
        fits = (length > 0) & (length <= room)
        room -= length * fits
        is_chosen[np.arange(n), order[:, turn]] = fits
    return can_be_masked & is_chosen.reshape(-1)[slots]


def _replace(
    labels: np.ndarray,
    draws: np.ndarray,
    options: InstanceOptions,
    vocab: Mapping[str, int],
    rng: np.random.Generator,
) -> np.ndarray:
    """Returns [MASK], the label itself or a random id for each label."""
    is_masked = draws < options.mask_token_prob
    stays = draws < options.mask_token_prob + options.same_token_prob
    random_ids = rng.integers(len(vocab), size=len(labels))
    return np.where(
        is_masked, vocab["[MASK]"], np.where(stays, labels, random_ids)
    )
