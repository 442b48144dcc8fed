"""Splits words into WordPieces inside a graph of TensorFlow's own operations.

`WordpieceSplitter.split` equals `WordpieceTokenizer.tokenize`, which
tests/data/text/test_tokenizer_layer.py compares.

C, W and P are totals over all texts: C = number of characters including white
space, W = number of words, P = number of WordPieces.
"""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from data.text import ragged
from data.text.wordpiece_trie import (
    BEGIN,
    FIRST,
    FURTHER,
    NO_CHARACTER,
    create_trie_table,
)

# Maximum number of words that each step of `_split_words` begins to read.
_MAX_WORDS_AT_ONCE = 1 << 14
_MAX_LENGTH = 200  # maximum length of a word. A longer word becomes [UNK].


class _LoopState(NamedTuple):
    """The state of the loop in `WordpieceSplitter._split_words` after a step.

    N = number of words that are being read.

    Attributes:
        positions: int32 [N], index of the next character of each word.
        nodes: int32 [N], row in the table of the node that each word has
            reached.
        starts: int32 [number of words that are still to be read], index of the
            first character of each.
        num_steps: number of steps before.
        tokens: WordPieces that each step has found, as ids + 1. 0 = the word
            cannot be split.
        ends: the indices after the last characters of these WordPieces.
    """

    positions: tf.Tensor
    nodes: tf.Tensor
    starts: tf.Tensor
    num_steps: tf.Tensor | int
    tokens: tf.TensorArray
    ends: tf.TensorArray


class WordpieceSplitter:
    """Splits words into the longest WordPieces that match, from the left.

    The table of wordpiece_trie.py contains the WordPieces, so that reading a
    character needs two look-ups and no search.

    Args:
        vocab: the WordPieces in the order of their ids.
        unknown: id that replaces a word that cannot be split.
    """

    def __init__(self, vocab: Sequence[str], unknown: int) -> None:
        self._unknown = unknown
        self._table = create_trie_table(vocab)

    def split(
        self, codes: tf.Tensor, begins: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Splits words into WordPieces.

        Args:
            codes: int32 [C], code points of the words and of the spaces between
                them. The last code point is a space.
            begins: bool [C], True at the first code point of each word, and at
                each space.

        Returns:
            (ids, ends), int32 [P] each: the ids of the WordPieces, and for each
            WordPiece the index in `codes` after its last character.
        """
        # The comments show the values for the words of "abb ax a ", with the
        # WordPieces a, ##b and ab, whose ids are 1 to 3.
        bounds = ragged.true_indices(begins)  # 0 3 4 6 7 8
        starts = tf.boolean_mask(bounds, tf.gather(codes, bounds) != ord(" "))
        is_too_long = bounds[1:] - bounds[:-1] > _MAX_LENGTH
        too_long = tf.gather(bounds, ragged.true_indices(is_too_long))
        marked = tf.where(begins, codes + BEGIN, codes)
        tokens, ends = self._split_words(
            _replace_at(marked, too_long, NO_CHARACTER), starts
        )
        # The tokens 4 2 2 0 2 end at 2 3 5 5 8. At its end, each becomes a
        # value of `tokens_at`, [0 0 4 2 0 2 0 0 2].
        tokens_at = tf.math.unsorted_segment_sum(tokens, ends, tf.size(codes))
        # A word that cannot be split to its end becomes one [UNK]. Drop the
        # WordPieces that were found at the word's beginning: "ax", from 4 to 6,
        # has a 0 at 5. So `tokens_at` becomes [0 0 4 2 0 0 1 0 2].
        inside_unknown = tf.boolean_mask(ends, tokens == 0)
        word = tf.searchsorted(bounds, inside_unknown, "right")
        word_ends = tf.gather(bounds, word)
        inside = tf.ragged.range(tf.gather(bounds, word - 1) + 1, word_ends)
        tokens_at = _replace_at(tokens_at, inside.flat_values, 0)
        tokens_at = _replace_at(tokens_at, word_ends, self._unknown + 1)
        ends = ragged.true_indices(tokens_at > 0)
        return tf.gather(tokens_at, ends) - 1, ends

    def _split_words(
        self, codes: tf.Tensor, starts: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Splits many words into WordPieces in parallel.

        A step of the loop reads one character of each word. `codes`, int32 [C],
        are code points. BEGIN is added to the first character of each word,
        and to the character after each word. `starts`, int32 [W], is the index
        of the first character of each word. Returns (tokens, ends), int32 [P]
        each, in no particular order. `tokens` contains ids + 1, and `ends` the
        index after each WordPiece's last character. If a word cannot be split,
        one of its tokens is 0, and the end of this token is the index of any
        character of the word.

        For example, the words of "unable unab x " begin at 0, 7 and 12. The
        WordPieces are un, ##a, ##able and ##b, with the ids 1 to 4. The nodes
        are shown as the text on the path to them. Each step begins with these
        positions and nodes, and writes these tokens and ends:

            step  positions  nodes       reads  tokens  ends
            0                                                  begins the words
            1     0 7 12     - - -       u u x  0       12     x is unknown
            2     1 8        u u         n n
            3     2 9        un un       a a    2 2     2 9    un ends twice
            4     2 9        ## ##       a a                   continues there
            5     3 10       ##a ##a     b b
            6     4 11       ##ab ##ab   l " "  3       10     ##a ends
            7     5 10       ##abl ##    e b                   goes back to b
            8     6 11       ##able ##b  " " "  4 5     6 11   both words end

        In step 6, no WordPiece continues ##ab with a space. The longest one on
        the path is ##a, which ends one character before. So the word is read
        on from there.
        """
        any_length = tf.TensorShape([None])
        tokens, ends = (_create_array(any_length) for _ in range(2))
        nothing = starts[:0]  # No word is being read yet.
        begin = _LoopState(nothing, nothing, starts, 0, tokens, ends)
        end = tf.while_loop(
            lambda positions, _, starts, *__: (
                tf.size(positions) + tf.size(starts) > 0
            ),
            lambda *state: self._read_characters(codes, _LoopState(*state)),
            begin,
            _LoopState._make([any_length] * 3 + [None] * 3),
        )
        return end.tokens.concat(), end.ends.concat()

    def _read_characters(
        self, codes: tf.Tensor, state: _LoopState
    ) -> _LoopState:
        """Reads the next character of each word, as a step of the loop.

        Returns the state for the next step.
        """
        table = self._table
        codes_read = tf.gather(codes, state.positions)
        child_rows = tf.gather(table.offsets, state.nodes) + codes_read
        child_rows = tf.minimum(child_rows, len(table.parents) - 1)
        is_read = tf.gather(table.parents, child_rows) == state.nodes
        nodes = tf.where(is_read, child_rows, state.nodes)
        # A word whose character no WordPiece continues ends a WordPiece.
        ended_positions, read_positions = _split_values(
            state.positions, is_read
        )
        ended_nodes, read_nodes = _split_values(nodes, is_read)
        tokens = tf.gather(table.tokens, ended_nodes)
        ends = ended_positions - tf.gather(table.num_after, ended_nodes)
        # Unless the word also ends there, its next WordPiece begins there.
        is_inside_word = tf.gather(codes, ends) < BEGIN
        continued = tf.boolean_mask(ends, (tokens > 0) & is_inside_word)
        begun, waiting = (
            state.starts[:_MAX_WORDS_AT_ONCE],
            state.starts[_MAX_WORDS_AT_ONCE:],
        )
        return _LoopState(
            positions=tf.concat([read_positions + 1, continued, begun], 0),
            nodes=tf.concat(
                [
                    read_nodes,
                    tf.fill(tf.shape(continued), FURTHER),
                    tf.fill(tf.shape(begun), FIRST),
                ],
                0,
            ),
            starts=waiting,
            num_steps=state.num_steps + 1,
            tokens=state.tokens.write(state.num_steps, tokens),
            ends=state.ends.write(state.num_steps, ends),
        )


def _split_values(values: tf.Tensor, is_second: tf.Tensor) -> list[tf.Tensor]:
    """Splits values into those for which `is_second` is False, and the rest.

    `values` and `is_second` are vectors of the same length. The two parts are
    vectors, whose lengths add up to it.
    """
    return tf.dynamic_partition(values, tf.cast(is_second, tf.int32), 2)


def _create_array(shape: tf.TensorShape) -> tf.TensorArray:
    """Returns an int32 array, to which each step of a loop adds a tensor."""
    return tf.TensorArray(
        dtype=tf.int32,
        size=0,
        dynamic_size=True,
        infer_shape=False,
        element_shape=shape,
    )


def _replace_at(values: tf.Tensor, indices: tf.Tensor, value: int) -> tf.Tensor:
    """Returns a copy of int32 `values` that contains `value` at `indices`."""
    return tf.tensor_scatter_nd_update(
        values, indices[:, None], tf.fill(tf.shape(indices), value)
    )
