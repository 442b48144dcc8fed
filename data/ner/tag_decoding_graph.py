"""Chooses the most probable legal tags of words in TensorFlow graphs.

An exported model runs the graph without Python. `decode_legal_tags` chooses the
same tags as `decode_tags` in tag_decoding.py does with `legal_tags`. The tests
of this module compare the two.

N = number of texts, L = number of tags.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import tensorflow as tf

from data.ner import tag_decoding
from data.text.ragged import row_ids

# Maximum number of words in a block of `decode_legal_tags`.
_BLOCK_WORDS = 512


def decode_legal_tags(
    probabilities: tf.RaggedTensor, labels: Sequence[str]
) -> tf.Tensor:
    """Chooses the most probable legal sequence of tags of each text.

    A sequence is legal if each of its tags may follow the preceding tag.

    Args:
        probabilities: probabilities of the L tags of each word of each text,
            ragged float32 [N, None, L].
        labels: names of the L tags, in the order of the probabilities.

    Returns:
        index of each word's chosen tag, int32 [number of words in all texts].
    """
    start, transition, end = tag_decoding.compute_penalties(tuple(labels))
    # Nearly always, the best tags of the words already form legal sequences,
    # which need no search.
    best = tf.argmax(probabilities.flat_values, -1, tf.int32)
    num_words = tf.size(best, probabilities.row_splits.dtype)
    text_indices = row_ids(probabilities.row_splits, num_words)
    before = best[:-1]
    after = best[1:]
    penalties = tf.where(
        text_indices[:-1] == text_indices[1:],
        tf.gather_nd(transition, tf.stack([before, after], 1)),
        tf.gather(end, before) + tf.gather(start, after),
    )
    outer = tf.gather(start, best[:1]) + tf.gather(end, best[-1:])
    return tf.cond(
        tf.reduce_all(penalties == 0) & tf.reduce_all(outer == 0),
        lambda: best,
        lambda: _find_legal_tags(probabilities, labels),
    )


class _WordsAtIndex(NamedTuple):
    """The words of all texts at one index, or a stack of these for tf.scan.

    Attributes:
        scores: float32 [N, L], a value of each tag of each word.
        word_index: int32 [], index of the words in their texts.
    """

    scores: tf.Tensor
    word_index: tf.Tensor


def _find_legal_tags(
    probabilities: tf.RaggedTensor, labels: Sequence[str]
) -> tf.Tensor:
    """Searches in the two passes of `tag_decoding.decode_tags`.

    For example, I must follow B or I. The code adds logarithms, and scales the
    totals, which does not change the choice:

        word  probabilities    totals, first to last       tags, last to first
              O   B   I        O     B     I
        in    0.8 0.1 0.1      0.8   0.1   0               O, best before B
        St    0.1 0.4 0.5      0.08  0.32  0.05            B, best before I
        Ives  0.1 0.2 0.7      0.032 0.064 0.224           I, best at the end
    """
    start, transition, end = tag_decoding.compute_penalties(tuple(labels))
    lengths = tf.cast(probabilities.row_lengths(), tf.int32)
    words = _cut_into_blocks(probabilities, len(end))

    def add_word(total: tf.Tensor, word: _WordsAtIndex) -> tf.Tensor:
        """Returns the score of the best sequence that ends in each tag."""
        paths = total[:, :, None] + transition
        best = tf.reduce_max(paths, 1) - tf.reduce_max(paths, [1, 2])[:, None]
        return tf.where(word.word_index == 0, start, best) + word.scores

    def choose_tag(next_tag: tf.Tensor, word: _WordsAtIndex) -> tf.Tensor:
        """Returns the best tag before a tag, or at the end of a text."""
        # The tags of the padding after a text do not matter.
        is_last = (word.word_index + 1 == lengths)[:, None]
        after = tf.where(is_last, end, tf.gather(transition.T, next_tag))
        return tf.argmax(word.scores + after, -1, tf.int32)

    first_total = tf.zeros_like(words.scores[0, 0])
    totals = _scan_blocks(add_word, words, first_total)
    no_tags = tf.zeros_like(lengths)
    words = words._replace(scores=totals)
    ids = _scan_blocks(choose_tag, words, no_tags, reverse=True)
    ids = tf.transpose(tf.reshape(ids, [-1, tf.size(lengths)]))
    return tf.RaggedTensor.from_tensor(ids, lengths).flat_values


def _cut_into_blocks(
    probabilities: tf.RaggedTensor, num_tags: int
) -> _WordsAtIndex:
    """Returns all words as blocks, for `_scan_blocks`.

    Args:
        probabilities: ragged float32 [N, None, L].
        num_tags: L.

    Returns:
        logarithms of the probabilities, float32 [blocks, words in a block, N,
        L], and indices of the words, int32 [blocks, words in a block]. The
        shorter texts are padded.
    """
    num_texts = probabilities.nrows(tf.int32)
    longest = tf.cast(tf.reduce_max(probabilities.row_lengths()), tf.int32)
    num_blocks = longest // _BLOCK_WORDS + 1
    size = longest // num_blocks + 1
    scores = probabilities.with_flat_values(
        tf.math.log(tf.maximum(probabilities.flat_values, 1e-37))
    ).to_tensor(shape=tf.stack([num_texts, num_blocks * size, num_tags]))
    scores = tf.reshape(
        tf.transpose(scores, [1, 0, 2]), [num_blocks, size, num_texts, num_tags]
    )
    indices = tf.reshape(tf.range(num_blocks * size), [num_blocks, size])
    return _WordsAtIndex(scores, indices)


def _scan_blocks(
    step: Callable[[tf.Tensor, _WordsAtIndex], tf.Tensor],
    blocks: _WordsAtIndex,
    first: tf.Tensor,
    reverse: bool = False,
) -> tf.Tensor:
    """Applies `step` to all words, block by block, and returns all its results.

    A loop keeps a small tensor for each of its steps, which needs several times
    the memory of its values. So the outer loop scans blocks of words, whose
    values become one tensor. A block continues where another one ends.

    Args:
        step: function of its result for the preceding word, and of a word.
        blocks: the words, [blocks, words in a block, ...] each.
        first: the result before the first word.
        reverse: whether to begin with the last word.
    """
    edge = 0 if reverse else -1
    block_size = tf.shape(blocks.word_index)[1]
    return tf.scan(
        lambda results, block: tf.scan(
            step, block, results[edge], reverse=reverse
        ),
        blocks,
        tf.repeat(first[None], block_size, 0),
        reverse=reverse,
    )
