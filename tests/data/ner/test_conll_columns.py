"""Which columns of a file contain words and tags, and which do not."""

import pytest

from tests.support.tagged_words import read_conll_file


@pytest.mark.parametrize(
    ("text", "column"),
    [("a\nb\n", 3), ("a NN\nb NN\n", 3), ("a\nc\n", 1), ("a1\nb2\n", None)],
)
def test_columns_of_a_test_set_may_lack_its_tags(tmp_path, text, column):
    (example,) = read_conll_file(
        tmp_path, text, "test.txt", "test", ["O", "B-PER"], label_column=column
    )
    assert example.tags == ["O", "O"]


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("a\nb\n", "a word and its tag"),
        ("-DOCSTART-\n\n", "a word and its tag"),
        ("a B-PER\nb O\nc PER\n", "line 3: .*'PER'"),
        ("word label\na O\nb PER\n", "line 1: .*'label'"),
        # Numbers of words, and of sentences.
        ("1 a O\n2 b O\n\n1 c O\n", "--text_column"),
        ("s1 a O\ns1 b O\n\ns2 c O\n", "--text_column"),
        # A corpus, a file or a speaker before each word.
        ("wsj a O\nwsj b B-PER\n\nwsj c O\n", "'wsj'"),
        # GermEval's entities inside of entities.
        ("a B-A O\nb I-A B-A\n", "--label_column"),
    ],
)
def test_the_error_shows_what_is_wrong_in_columns(tmp_path, text, culprit):
    with pytest.raises(ValueError, match=f"dev.txt.*{culprit}"):
        read_conll_file(tmp_path, text, "dev.txt", "dev", ["O", "B-LOC"])


@pytest.mark.parametrize(
    "flags", [{"text_column": 3}, {"label_column": 3}, {"text_column": 2}]
)
def test_a_column_that_a_file_lacks_is_an_error(tmp_path, flags):
    with pytest.raises(
        ValueError, match="but the words are expected in column"
    ):
        read_conll_file(tmp_path, "a O\n", "train.txt", **flags)


@pytest.mark.parametrize(
    ("text", "flags", "words"),
    [
        # Lemmas and bare prefixes beside the tags.
        ("1 B-52 B-52 B- O\n2 a I-52 B- O\n", {"text_column": 2}, "B-52 a"),
        ("left B-DNA\nB-DNA I-DNA\n", {}, "left B-DNA"),
    ],
)
def test_words_may_look_like_tags(tmp_path, text, flags, words):
    (example,) = read_conll_file(
        tmp_path, text, "dev.txt", "dev", ["O", "B-DNA"], **flags
    )
    assert example.words == words.split()
