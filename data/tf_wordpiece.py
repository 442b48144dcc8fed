"""Words to WordPieces inside a graph, by TensorFlow's own operations alone.

A graph of them runs wherever TensorFlow does, saved_model_cli included; one
with TensorFlow Text's kernels needs that library beside it.

C = characters of all words together, P = WordPieces, V = words.
"""

import numpy as np
import tensorflow as tf

_NODE_SHIFT = 21  # bits of a code point
_FIRST, _FURTHER = 0, 1  # the trees' roots: "un", and "##able" by "able"


class WordpieceTable:
    """Splits words to the longest WordPieces that match, from the left.

    Args:
        vocab: list of str, the WordPieces in the order of their ids.
        unk_token: what stands for a word that cannot be split.
        max_input_chars_per_word: a longer word is not split either.
    """

    def __init__(self, vocab, unk_token="[UNK]", max_input_chars_per_word=200):
        self._unknown = vocab.index(unk_token)
        self._max_length = max_input_chars_per_word
        edges, tokens = {}, {}
        num_nodes = 2
        for index, token in enumerate(vocab):
            text = token.removeprefix("##")
            node = _FIRST if text is token else _FURTHER
            for char in text:
                key = node << _NODE_SHIFT | ord(char)
                if key not in edges:
                    edges[key] = num_nodes
                    num_nodes += 1
                node = edges[key]
            tokens[node] = index
        self._keys = np.array(sorted(edges), np.int64)
        self._nodes = np.array([edges[key] for key in sorted(edges)], np.int64)
        self._tokens = np.full(num_nodes, -1, np.int32)
        self._tokens[list(tokens)] = list(tokens.values())

    def split(self, cps, word_starts):
        """Splits words.

        Args:
            cps: int32 [C], their code points, strung together.
            word_starts: int64 [V], where each begins.

        Returns:
            (ids, first, last): int32 [P], the WordPieces, and for each the
            indexes of its first and last character.
        """
        num_chars = tf.size(cps, tf.int64)
        word_ends = tf.concat([word_starts[1:], [num_chars]], 0)[
            : tf.size(word_starts)
        ]
        lengths = word_ends - word_starts
        ends = tf.repeat(word_ends, lengths)
        piece_ids, piece_lengths = self._find_longest(cps, word_starts, ends)
        is_split = lengths <= self._max_length
        is_piece, is_split = _follow(
            piece_lengths, word_starts, word_ends, is_split
        )
        # What is not split is one piece, unknown.
        is_split = tf.repeat(is_split, lengths)
        is_start = _mark(word_starts, num_chars)
        first = tf.where(tf.where(is_split, is_piece, is_start))[:, 0]
        is_split = tf.gather(is_split, first)
        ids = tf.where(is_split, tf.gather(piece_ids, first), self._unknown)
        last = tf.where(
            is_split,
            first + tf.gather(piece_lengths, first),
            tf.gather(ends, first),
        )
        return ids, tf.cast(first, tf.int32), tf.cast(last - 1, tf.int32)

    def _find_longest(self, cps, word_starts, ends):
        """Returns the longest WordPiece at each character.

        Returns:
            (int32 [C], int64 [C]): its id, and its length, 0 for none.
        """
        num_chars = tf.size(cps, tf.int64)
        roots = tf.where(_mark(word_starts, num_chars), _FIRST, _FURTHER)
        cps = tf.cast(cps, tf.int64)

        def read_on(length, places, nodes, ids, lengths):
            keys = nodes * 2**_NODE_SHIFT + tf.gather(cps, places + length)
            edges = tf.searchsorted(self._keys, keys)
            edges = tf.minimum(edges, len(self._keys) - 1)
            found = tf.where(tf.gather(self._keys, edges) == keys)[:, 0]
            places = tf.gather(places, found)
            nodes = tf.gather(self._nodes, tf.gather(edges, found))
            length += 1
            tokens = tf.gather(self._tokens, nodes)
            whole = tf.where(tokens >= 0)[:, 0]
            at = tf.gather(places, whole)[:, None]
            ids = tf.tensor_scatter_nd_update(ids, at, tf.gather(tokens, whole))
            lengths = tf.tensor_scatter_nd_update(
                lengths, at, tf.fill([tf.size(whole)], length)
            )
            goes_on = tf.where(places + length < tf.gather(ends, places))[:, 0]
            return (
                length,
                tf.gather(places, goes_on),
                tf.gather(nodes, goes_on),
                ids,
                lengths,
            )

        *_, ids, lengths = tf.while_loop(
            lambda length, places, *_: tf.size(places) > 0,
            read_on,
            (
                tf.constant(0, tf.int64),
                tf.range(num_chars),
                tf.cast(roots, tf.int64),
                tf.zeros([num_chars], tf.int32),
                tf.zeros([num_chars], tf.int64),
            ),
            shape_invariants=(
                tf.TensorShape([]),
                *([tf.TensorShape([None])] * 4),
            ),
        )
        return ids, lengths


def _follow(lengths, word_starts, word_ends, is_split):
    """Goes from WordPiece to WordPiece to the end of each word.

    Args:
        lengths: int64 [C], of the WordPiece at each character, 0 for none.
        word_starts: int64 [V].
        word_ends: int64 [V].
        is_split: bool [V], whether to go through a word at all.

    Returns:
        (bool [C], bool [V]): whether a WordPiece begins at each character,
        and whether each word is made of them.
    """

    def step(words, places, is_piece, is_split):
        found = tf.gather(lengths, places)
        is_split = tf.tensor_scatter_nd_update(
            is_split, words[:, None], found > 0
        )
        is_piece = tf.tensor_scatter_nd_update(
            is_piece, places[:, None], tf.fill([tf.size(places)], True)
        )
        places += found
        goes_on = (found > 0) & (places < tf.gather(word_ends, words))
        goes_on = tf.where(goes_on)[:, 0]
        return (
            tf.gather(words, goes_on),
            tf.gather(places, goes_on),
            is_piece,
            is_split,
        )

    words = tf.where(is_split)[:, 0]
    *_, is_piece, is_split = tf.while_loop(
        lambda words, *_: tf.size(words) > 0,
        step,
        (
            words,
            tf.gather(word_starts, words),
            tf.fill([tf.size(lengths)], False),
            is_split,
        ),
        shape_invariants=(tf.TensorShape([None]),) * 4,
    )
    return is_piece, is_split


def _mark(places, size):
    """Returns bool [size], True at some places."""
    return tf.scatter_nd(
        places[:, None],
        tf.fill([tf.size(places)], True),
        tf.cast(size, tf.int64)[None],
    )
