"""The table of WordPieces with which a graph splits words."""

import numpy as np
import pytest

from data.text.wordpiece_graph import (
    BEGIN,
    FIRST,
    FURTHER,
    create_trie_table,
)

VOCAB = ["[UNK]", "un", "unable", "##a", "##able", "a"]


def find_node(table, token):
    """Returns the row of a WordPiece's last character, None without one."""
    row = FURTHER if token.startswith("##") else FIRST
    for char in token.removeprefix("##"):
        code = ord(char) + (BEGIN if row == FIRST else 0)
        child = min(table.offsets[row] + code, len(table.parents) - 1)
        if table.parents[child] != row:
            return None
        row = child
    return row


@pytest.fixture
def table():
    """The table of VOCAB."""
    return create_trie_table(VOCAB)


@pytest.mark.parametrize("token", VOCAB)
def test_the_path_of_a_wordpiece_ends_at_its_id(table, token):
    node = find_node(table, token)
    assert table.tokens[node] == VOCAB.index(token) + 1
    assert table.num_after[node] == 0


def test_a_node_between_wordpieces_has_the_longest_one_before_it(table):
    node = find_node(table, "unabl")
    assert table.tokens[node] == VOCAB.index("un") + 1
    assert table.num_after[node] == len("abl")


def test_a_path_that_no_wordpiece_has_ends(table):
    assert find_node(table, "ax") is None
    assert find_node(table, "##un") is None


def test_nothing_is_in_the_last_row(table):
    """The indices of all rows after it are clipped to it."""
    assert table.parents[-1] == -1


def test_the_roots_are_no_wordpieces():
    table = create_trie_table(["", "##", "a"])
    assert np.all(table.tokens[[FIRST, FURTHER]] == 0)
