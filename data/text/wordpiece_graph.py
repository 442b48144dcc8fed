"""Splits words into WordPieces inside a graph of TensorFlow's own operations.

`WordpieceSplitter.split` equals `WordpieceTokenizer.tokenize`, which
tests/data/text/test_tokenizer_layer.py compares. It reads a table that contains
the vocabulary as two trees (tries): one of the WordPieces that begin a word
("un"), the other one of continuations ("##able").

C, W and P are totals over all texts: C = number of characters including white
space, W = number of words, P = number of WordPieces.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from data.arrays import IntArray
from data.text import ragged

# This number is added to the first code point of a word, so that a code point
# at the beginning of a word never equals a code point inside a word.
BEGIN = 1 << 24
# No WordPiece contains this code point.
_NO_CHARACTER = BEGIN + 0x110000
# Roots of the two trees: of WordPieces that begin a word, and of continuations.
FIRST, FURTHER = 0, 1
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

    A TrieTable contains the WordPieces, so that reading a character needs two
    look-ups and no search.

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
            _replace_at(marked, too_long, _NO_CHARACTER), starts
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


class TrieTable(NamedTuple):
    """The trees of WordPieces as a table, with a row for each node.

    The root of the WordPieces that begin a word is in the row FIRST, and the
    root of the continuations in the row FURTHER. The child of a node for a
    code point is in the row (offset of the node) + (code point). If the parent
    of this row is another node, the child does not exist.

    For example, the WordPieces u and une, whose ids are 0 and 1. The code
    points of u, n and e are 117, 110 and 101. All other rows are of no node:

        row        0        1    101   110   117
        node       ""       ##   une   un    u
        offsets    -BEGIN  0    0     0     0
        parents    -1       -1   110   117   0
        tokens     0        0    2     1     1
        num_after  0        0    0     1     0

    Attributes:
        offsets: int32 [rows], number to add to the code points of the node's
            children.
        parents: int32 [rows], row of the node's parent, -1 if there is none.
        tokens: int32 [rows], the longest WordPiece on the path to the node, as
            its id + 1. 0 = none.
        num_after: int32 [rows], number of characters on the path after this
            WordPiece.
    """

    offsets: IntArray
    parents: IntArray
    tokens: IntArray
    num_after: IntArray


def create_trie_table(vocab: Sequence[str]) -> TrieTable:
    """Returns the table of WordPieces, which are in the order of their ids.

    Examples:
        >>> table = create_trie_table(["u", "une"])
        >>> table.parents[[101, 110, 117]].tolist()
        [110, 117, 0]
        >>> table.tokens[[101, 110, 117]].tolist()
        [2, 1, 1]
    """
    edges, token_of_node = _create_trees(vocab)
    offsets, num_rows = _choose_offsets(edges)
    table = TrieTable(*np.zeros([4, num_rows], np.int32))
    table.parents[:] = -1
    row_of_node = {FIRST: FIRST, FURTHER: FURTHER}
    # A parent is before its children in `edges`.
    for node, children in enumerate(edges):
        row = row_of_node[node]
        table.offsets[row] = offsets[node]
        # The roots represent "" and "##". Do not split words into "" and "##",
        # even if the vocabulary contains them.
        if node > FURTHER and node in token_of_node:
            table.tokens[row] = token_of_node[node] + 1
            table.num_after[row] = 0
        for code, child in children.items():
            child_row = offsets[node] + code
            row_of_node[child] = child_row
            table.parents[child_row] = row
            # These are right if the child itself is no WordPiece.
            table.tokens[child_row] = table.tokens[row]
            table.num_after[child_row] = table.num_after[row] + 1
    return table


def _create_trees(
    vocab: Sequence[str],
) -> tuple[list[dict[int, int]], dict[int, int]]:
    """Returns the trees of WordPieces.

    Returns:
        (edges, token_of_node). `edges` are {code point: index of the child} of
        each node. `token_of_node` is {index of a node: id of the WordPiece that
        ends there}. The nodes FIRST and FURTHER are the roots.

    Examples:
        The node 2 is "u", 3 is "un", and 4 is "##a". The code points of u, n
        and a are 117, 110 and 97:

        >>> edges, token_of_node = _create_trees(["un", "##a", "u"])
        >>> edges == [{BEGIN + 117: 2}, {97: 4}, {110: 3}, {}, {}]
        True
        >>> token_of_node
        {3: 0, 4: 1, 2: 2}
    """
    edges: list[dict[int, int]] = [{}, {}]
    token_of_node = {}
    for index, token in enumerate(vocab):
        node = FURTHER if token.startswith("##") else FIRST
        for char in token.removeprefix("##"):
            code = ord(char)
            if node == FIRST:
                code += BEGIN
            if code not in edges[node]:
                edges[node][code] = len(edges)
                edges.append({})
            node = edges[node][code]
        # If the vocabulary repeats a WordPiece, use its last id, as in Google's
        # code.
        token_of_node[node] = index
    return edges, token_of_node


def _choose_offsets(edges: list[dict[int, int]]) -> tuple[list[int], int]:
    """Gives each node an offset, so that all children are in distinct rows.

    The row of a child is the offset of its parent plus the code point. `edges`
    is {code point: child} of each node. The two roots come first. Returns
    (offsets, number of rows). Rows are not negative. No child is in the last
    row, because the indices of all rows after it are clipped to it.

    Examples:
        The children of the nodes 0, 1 and 2 are in the rows 5 and 7, 6, and 8:

        >>> _choose_offsets([{5: 2, 7: 3}, {5: 4}, {6: 5}, {}, {}, {}])
        ([0, 1, 2, 0, 0, 0], 10)
    """
    offsets = [0] * len(edges)
    used = {FIRST, FURTHER}
    nodes = [node for node, children in enumerate(edges) if children]
    # Place the nodes with many children first, so that nodes with one child
    # fill the gaps between them.
    nodes.sort(key=lambda node: (-len(edges[node]), min(edges[node])))
    # The rows before these are full, for nodes with one child and with several.
    begin_of_single = begin_of_several = 0
    for node in nodes:
        codes = sorted(edges[node])
        is_single = len(codes) == 1
        begin = begin_of_single if is_single else begin_of_several
        row = max(begin, codes[0] % BEGIN)
        while row in used or any(
            row - codes[0] + code in used for code in codes
        ):
            row += 1
        if is_single:
            begin_of_single = row
        else:
            begin_of_several = row
        offsets[node] = row - codes[0]
        used.update(offsets[node] + code for code in codes)
    return offsets, max(used) + 2
