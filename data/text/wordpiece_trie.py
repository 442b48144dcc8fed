"""Arranges the WordPieces of a vocabulary as two trees (tries) in a table.

wordpiece_graph.py splits words with this table. One tree contains the
WordPieces that begin a word ("un"), the other one continuations ("##able").
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from data.arrays import IntArray

# This number is added to the first code point of a word, so that a code point
# at the beginning of a word never equals a code point inside a word.
BEGIN = 1 << 24
# No WordPiece contains this code point.
NO_CHARACTER = BEGIN + 0x110000
# Roots of the two trees: of WordPieces that begin a word, and of continuations.
FIRST, FURTHER = 0, 1


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
    begins = [0, 0]
    for node in nodes:
        codes = sorted(edges[node])
        is_single = len(codes) == 1
        row = max(begins[is_single], codes[0] % BEGIN)
        while row in used or any(
            row - codes[0] + code in used for code in codes
        ):
            row += 1
        begins[is_single] = row
        offsets[node] = row - codes[0]
        used.update(offsets[node] + code for code in codes)
    return offsets, max(used) + 2
