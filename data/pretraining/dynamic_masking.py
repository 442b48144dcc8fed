"""Masks records while training reads them, with new masks in each epoch.

The method is from Liu et al. 2019 (RoBERTa), section 4.1. The fractions of
WordPieces that become [MASK], stay unchanged or become random are from
create_masked_lm_predictions in Google's code. B = batch size, T =
max_seq_length, P = max_predictions_per_seq.
"""

import numpy as np
import tensorflow as tf

from data.pretraining.pretraining_options import MaskingOptions
from data.text.tokenization import FullTokenizer


class DynamicMasking:
    """Masks records that create_pretraining_data.py wrote without masks.

    The masks of a record depend only on the seed and on the record's number in
    the order of training.
    """

    def __init__(
        self,
        tokenizer: FullTokenizer,
        max_predictions_per_seq: int,
        options: MaskingOptions,
        seed: int = 0,
    ) -> None:
        vocab = tokenizer.vocab
        self._special_ids = [vocab[name] for name in ("[CLS]", "[SEP]")]
        self._mask_id = vocab["[MASK]"]
        self._is_continuation = np.array(
            [token.startswith("##") for token in tokenizer.tokens]
        )
        # Random words are drawn from these ids. A token that the vocabulary
        # file repeats occurs only once in the array, as in Google's code.
        self._word_ids = np.array([*vocab.values()], np.int32)
        self._max_predictions = max_predictions_per_seq
        self._options = options
        self._seed = seed

    def draw(self, record_index: tf.Tensor, max_seq_length: int) -> tf.Tensor:
        """Draws the random numbers that determine the masks of one record.

        `record_index`, int64, is the number of records that training read
        before this record. Returns float32 [3, max_seq_length], from 0 to below
        1. Row 0 determines which positions are masked, row 1 how each is masked
        ([MASK], random word or unchanged), and row 2 the random words.
        """
        return tf.random.stateless_uniform(
            [3, max_seq_length], tf.stack([self._seed, record_index])
        )

    def __call__(
        self, features: dict[str, tf.Tensor], draws: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Masks the WordPieces of a batch of records.

        Args:
            features: dict with input_ids and input_mask, int32 [B, T].
            draws: random numbers from `draw` for each record, float32
                [B, 3, T].

        Returns:
            `features` with input_ids masked, and masked_lm_positions,
            masked_lm_ids (int32) and masked_lm_weights (float32), [B, P].
        """
        input_ids = features["input_ids"]
        order_draws, kind_draws, word_draws = tf.unstack(draws, axis=1)
        chosen = self._choose_tokens(features, order_draws)
        replacements = self._compute_replacements(
            input_ids, kind_draws, word_draws
        )
        return {
            **features,
            "input_ids": tf.where(chosen, replacements, input_ids),
            **self._select_predictions(chosen, input_ids),
        }

    def _choose_tokens(
        self, features: dict[str, tf.Tensor], order_draws: tf.Tensor
    ) -> tf.Tensor:
        """Chooses the WordPieces to predict, bool [B, T].

        `order_draws`, float32 [B, T], determine the order of the choice.
        """
        input_ids = features["input_ids"]
        can_be_masked = features["input_mask"] > 0
        for special_id in self._special_ids:
            can_be_masked &= input_ids != special_id
        num_to_predict = self._count_predictions(features["input_mask"])
        if self._options.do_whole_word_mask:
            words = self._number_words(input_ids, can_be_masked)
            return _choose_words(words, order_draws, num_to_predict)
        # The rank of a WordPiece is its index in the order of the draws. For
        # example, the draws .7 .2 .9 have the ranks 1 0 2.
        keys = tf.where(can_be_masked, order_draws, 2.0)
        ranks = tf.argsort(tf.argsort(keys, axis=1), axis=1)
        return can_be_masked & (ranks < num_to_predict[:, None])

    def _count_predictions(self, input_mask: tf.Tensor) -> tf.Tensor:
        """Returns how many WordPieces to predict in each record, int32 [B]."""
        lengths = tf.cast(tf.reduce_sum(input_mask, axis=1), tf.float32)
        wanted = tf.round(lengths * self._options.masked_lm_prob)
        return tf.clip_by_value(
            tf.cast(wanted, tf.int32), 1, self._max_predictions
        )

    def _number_words(
        self, input_ids: tf.Tensor, can_be_masked: tf.Tensor
    ) -> tf.Tensor:
        """Returns the index of each WordPiece's word, int32 [B, T].

        The index is -1 for a token that cannot be masked. For example, the
        result is -1 0 1 1 -1 for [CLS] who moore ##d [SEP].
        """
        # A word begins at each WordPiece without "##". A word also begins after
        # each token that cannot be masked, such as [CLS].
        begins_word = can_be_masked & ~(
            tf.gather(self._is_continuation, input_ids)
            & tf.pad(can_be_masked[:, :-1], [[0, 0], [1, 0]])
        )
        words = tf.cumsum(tf.cast(begins_word, tf.int32), axis=1) - 1
        return tf.where(can_be_masked, words, -1)

    def _compute_replacements(
        self, input_ids: tf.Tensor, kind_draws: tf.Tensor, word_draws: tf.Tensor
    ) -> tf.Tensor:
        """Returns the replacement of each WordPiece, if chosen, int32 [B, T].

        A WordPiece becomes [MASK], stays unchanged, or becomes a random
        WordPiece. `kind_draws`, float32 [B, T], determine which of the three,
        and `word_draws`, float32 [B, T], determine the random WordPiece.
        """
        options = self._options
        random_words = tf.cast(
            word_draws * tf.cast(len(self._word_ids), tf.float32), tf.int32
        )
        random_ids = tf.gather(self._word_ids, random_words)
        not_random_prob = options.mask_token_prob + options.same_token_prob
        return tf.where(
            kind_draws < options.mask_token_prob,
            self._mask_id,
            tf.where(kind_draws < not_random_prob, input_ids, random_ids),
        )

    def _select_predictions(
        self, chosen: tf.Tensor, input_ids: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Returns the features that contain the positions and ids to predict.

        `chosen`, bool [B, T], is True for each WordPiece to predict. For
        example, two of at most four WordPieces are chosen from one record:

            input_ids            2 14 15 16 3
            chosen               0  1  0  1 0
            masked_lm_positions  1  3  0  0
            masked_lm_ids       14 16  0  0
            masked_lm_weights    1  1  0  0
        """
        max_predictions = self._max_predictions
        columns = tf.zeros_like(input_ids) + tf.range(tf.shape(input_ids)[1])
        positions, labels = (
            tf.ragged.boolean_mask(values, chosen).to_tensor(
                shape=[None, max_predictions]
            )
            for values in (columns, input_ids)
        )
        counts = tf.math.count_nonzero(chosen, axis=1)
        return {
            "masked_lm_positions": positions,
            "masked_lm_ids": labels,
            "masked_lm_weights": tf.sequence_mask(
                counts, max_predictions, tf.float32
            ),
        }


def _choose_words(
    words: tf.Tensor, draws: tf.Tensor, num_to_predict: tf.Tensor
) -> tf.Tensor:
    """Chooses words in random order, for whole-word masking.

    `num_to_predict`, int32 [B], is the maximum number of WordPieces to choose
    in each record. A word that would exceed it is skipped. `words`, int32 [B,
    T], contains the index of each WordPiece's word, or -1 if it cannot be
    masked. `draws`, float32 [B, T], determines the order: the word w with the
    smallest draw in column w is first. Returns bool [B, T], True for each
    WordPiece of a chosen word.

    For example, at most 3 WordPieces are chosen from the words 0, 1 and 2:

        words    -1  0  0  1  2  2  2 -1
        draws    .1 .9 .5  ...
        lengths   2  1  3                   WordPieces of the words 0, 1 and 2
        order     0  2  1                   by the draws
        ordered   2  3  1                   lengths, in this order
        rooms     1  1  0                   left after each word
        fits      1  0  1                   word 2 is longer than the 1 left
        chosen    0  1  1  1  0  0  0  0
    """
    width = tf.shape(words)[1]
    # Column w contains the number of WordPieces in word w of each record.
    lengths = tf.reduce_sum(tf.one_hot(words, width, dtype=tf.int32), axis=1)
    order = tf.argsort(tf.where(lengths > 0, draws, 2.0), axis=1)
    ordered = tf.gather(lengths, order, batch_dims=1)
    rooms = tf.scan(
        lambda room, length: room - tf.where(length <= room, length, 0),
        tf.transpose(ordered),
        num_to_predict,
    )
    before = tf.concat([num_to_predict[None], rooms[:-1]], axis=0)
    fits = tf.transpose(rooms < before)
    is_chosen = tf.gather(fits, tf.argsort(order, axis=1), batch_dims=1)
    chosen = tf.gather(is_chosen, tf.maximum(words, 0), batch_dims=1)
    return chosen & (words >= 0)
