"""Code points normalized in a graph, and where each came from."""

import pytest
import tensorflow as tf

from data.text.normalization_graph import create_tables, normalize


def normalize_text(text, do_lower_case=True):
    """Returns the normalized characters of a text, and their sources."""
    decoded = tf.strings.unicode_decode(text + "\n", "UTF-8")
    chars = normalize(decoded, create_tables(do_lower_case), do_lower_case)
    characters = "".join(map(chr, chars.code_points.numpy()))
    # The line end becomes the last space.
    assert characters[-1] == " "
    return characters[:-1], chars.decoded_indices.numpy().tolist()[:-1]


@pytest.mark.parametrize(
    ("text", "normalized", "source"),
    [
        ("Été", "ete", [0, 1, 2]),
        ("a\0B", "ab", [0, 2]),
        # Syllables become their letters.
        ("x가y각", "x\u1100\u1161y\u1100\u1161\u11a8", [0, 1, 1, 2, 3, 3, 3]),
        # Of the marks, U+302E of class 224 stands before U+1D16D of class 226.
        ("x\U0001d16d\u302ey", "x\u302e\U0001d16dy", [0, 2, 1, 3]),
        # A Greek sigma at the end of a word has a form of its own.
        ("a\u03a3 \u03a3b", "a\u03c2 \u03c3b", [0, 1, 2, 3, 4]),
    ],
)
def test_lower_casing_keeps_where_a_character_came_from(
    text, normalized, source
):
    assert normalize_text(text) == (normalized, source)


def test_a_cased_text_keeps_its_letters():
    text, _ = normalize_text("Été\tB", do_lower_case=False)
    assert text == "Été B"
