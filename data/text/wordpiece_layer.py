"""Splits words into WordPieces inside a graph, with TensorFlow ops alone.

C = characters of all words together, P = WordPieces, V = words.
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from data.text import ragged

_GROUP_SIZE = 1 << 16  # characters looked up at a time
_NODE_SHIFT = 21  # bits of a code point
_FIRST, _FURTHER = 0, 1  # the trees' roots: "un", and "##able" by "able"


class WordpieceTable:
    """Splits words into the longest WordPieces that match, from the left.

    Args:
        vocab: the WordPieces in the order of their ids.
        unk_token: token for a word that cannot be split.
        max_input_chars_per_word: longer words also become `unk_token`.
    """

    def __init__(
        self,
        vocab: Sequence[str],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 200,
    ) -> None:
        # The last of equal lines counts.
        self._unknown = len(vocab) - 1 - vocab[::-1].index(unk_token)
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

    def split(
        self, cps: tf.Tensor, word_starts: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Splits words.

        Args:
            cps: int32 [C], their code points, one word after the other.
            word_starts: int32 [V], the first character of each.

        Returns:
            (ids, first, last): int32 [P], the WordPieces, and for each the
            indexes of its first and last character.
        """
        ends = tf.concat([word_starts[1:], tf.size(cps)[None]], 0)
        ends = ends[: tf.size(word_starts)]
        lengths = ends - word_starts
        # A few words at a time: the state of each character is large.
        lengths = tf.where(lengths <= self._max_length, lengths, 1)
        read = tf.cumsum(lengths)
        num_groups = 1 + tf.reduce_sum(lengths) // _GROUP_SIZE

        def split_group(group: tf.Tensor) -> tuple[tf.Tensor, ...]:
            begin, end = tf.unstack(
                tf.searchsorted(
                    read,
                    tf.stack([group, group + 1]) * _GROUP_SIZE,
                    side="right",
                )
            )
            return self._split_group(
                cps, word_starts[begin:end], ends[begin:end]
            )

        outputs = tf.map_fn(
            split_group,
            tf.range(num_groups),
            fn_output_signature=(tf.RaggedTensorSpec([None], tf.int32),) * 3,
            parallel_iterations=1,
        )
        return tuple(output.flat_values for output in outputs)

    def _split_group(
        self, cps: tf.Tensor, word_starts: tf.Tensor, word_ends: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Returns (ids, first, last) of some words; see `split`."""
        lengths = word_ends - word_starts
        is_split = lengths <= self._max_length
        # Only the first character of a word that is too long is read.
        chars = tf.ragged.range(
            word_starts, tf.where(is_split, word_ends, word_starts + 1)
        )
        places = chars.flat_values
        starts = tf.cast(chars.row_starts(), tf.int32)
        ends = tf.cast(chars.row_limits(), tf.int32)
        words = ragged.row_ids(
            tf.cast(chars.row_splits, tf.int32), tf.size(places)
        )
        piece_ids, piece_lengths = self._find_longest(
            tf.gather(cps, places), starts, tf.gather(ends, words)
        )
        is_piece, is_split = _follow(piece_lengths, starts, ends, is_split)
        # A word that is not split is one unknown WordPiece.
        is_start = _mark(starts, tf.size(places))
        first = tf.where(
            tf.where(tf.gather(is_split, words), is_piece, is_start)
        )[:, 0]
        words = tf.gather(words, first)
        is_split = tf.gather(is_split, words)
        ids = tf.where(is_split, tf.gather(piece_ids, first), self._unknown)
        places = tf.gather(places, first)
        last = tf.where(
            is_split,
            places + tf.gather(piece_lengths, first),
            tf.gather(word_ends, words),
        )
        return ids, places, last - 1

    def _find_longest(
        self, cps: tf.Tensor, word_starts: tf.Tensor, ends: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the longest WordPiece at each character.

        Returns:
            (int32 [C], int32 [C]): its id, and its length, 0 for none.
        """
        num_chars = tf.size(cps)
        roots = tf.where(_mark(word_starts, num_chars), _FIRST, _FURTHER)
        cps = tf.cast(cps, tf.int64)

        def read_on(
            length: tf.Tensor,
            places: tf.Tensor,
            nodes: tf.Tensor,
            ids: tf.Tensor,
            lengths: tf.Tensor,
        ) -> tuple[tf.Tensor, ...]:
            keys = nodes * 2**_NODE_SHIFT + tf.gather(cps, places + length)
            edges = tf.searchsorted(self._keys, keys)
            edges = tf.minimum(edges, len(self._keys) - 1)
            indexes = tf.where(tf.gather(self._keys, edges) == keys)[:, 0]
            places = tf.gather(places, indexes)
            nodes = tf.gather(self._nodes, tf.gather(edges, indexes))
            length += 1
            tokens = tf.gather(self._tokens, nodes)
            finished = tf.where(tokens >= 0)[:, 0]
            at = tf.gather(places, finished)[:, None]
            ids = tf.tensor_scatter_nd_update(
                ids, at, tf.gather(tokens, finished)
            )
            lengths = tf.tensor_scatter_nd_update(
                lengths, at, tf.fill([tf.size(finished)], length)
            )
            unfinished = tf.where(places + length < tf.gather(ends, places))[
                :, 0
            ]
            return (
                length,
                tf.gather(places, unfinished),
                tf.gather(nodes, unfinished),
                ids,
                lengths,
            )

        *_, ids, lengths = tf.while_loop(
            lambda length, places, *_: tf.size(places) > 0,
            read_on,
            (
                0,
                tf.range(num_chars),
                tf.cast(roots, tf.int64),
                tf.zeros([num_chars], tf.int32),
                tf.zeros([num_chars], tf.int32),
            ),
            shape_invariants=(
                tf.TensorShape([]),
                *([tf.TensorShape([None])] * 4),
            ),
        )
        return ids, lengths


def _follow(
    lengths: tf.Tensor,
    word_starts: tf.Tensor,
    word_ends: tf.Tensor,
    is_split: tf.Tensor,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Walks from WordPiece to WordPiece to the end of each word.

    Args:
        lengths: int32 [C], of the WordPiece at each character, 0 for none.
        word_starts: int32 [V].
        word_ends: int32 [V].
        is_split: bool [V], whether to split a word at all.

    Returns:
        (bool [C], bool [V]): whether a WordPiece begins at each character, and
        whether WordPieces cover each word.
    """

    def step(
        words: tf.Tensor,
        places: tf.Tensor,
        is_piece: tf.Tensor,
        is_split: tf.Tensor,
    ) -> tuple[tf.Tensor, ...]:
        steps = tf.gather(lengths, places)
        is_split = tf.tensor_scatter_nd_update(
            is_split, words[:, None], steps > 0
        )
        is_piece = tf.tensor_scatter_nd_update(
            is_piece, places[:, None], tf.fill([tf.size(places)], True)
        )
        places += steps
        unfinished = (steps > 0) & (places < tf.gather(word_ends, words))
        unfinished = tf.where(unfinished)[:, 0]
        return (
            tf.gather(words, unfinished),
            tf.gather(places, unfinished),
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


def _mark(places: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Returns bool [size], True at some places."""
    return tf.scatter_nd(
        places[:, None], tf.fill([tf.size(places)], True), size[None]
    )
