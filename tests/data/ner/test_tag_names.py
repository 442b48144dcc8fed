"""Names of the tags of a file, and values that are no tags."""

import pytest

from data.ner import tag_names
from tests.support.tagged_words import (
    read_conll_file,
    tags_of,
)


def test_numbers_are_named_by_labels(tmp_path):
    text = "a 1\nb 2\n\nc 0\n"
    labels = ["O", "B-X", "I-X"]
    examples = read_conll_file(tmp_path, text, "train.txt", labels=labels)
    assert tags_of(examples) == [["B-X", "I-X"], ["O"]]


def test_a_number_that_no_label_names_is_an_error():
    counts = {"1": 1, "2": 1, "0": 3}
    with pytest.raises(ValueError, match="tag 2 has no name"):
        tag_names.name_tags("a.txt", counts, ["O", "B-X"], is_train=True)


def test_numbers_ask_for_the_labels():
    with pytest.raises(ValueError, match="--labels=O,B-PER,I-PER"):
        tag_names.name_tags("a.txt", {"1": 1, "0": 3}, [], is_train=True)


def test_types_without_prefixes_are_inside_of_entities():
    counts = {"PER": 1, "O": 9}
    names = tag_names.name_tags("a.txt", counts, [], is_train=True)
    assert names == {"PER": "I-PER", "O": "O"}


def test_values_that_are_not_tags_have_no_name():
    counts = {"B-PER": 1, "NN": 2, "O": 9}
    names = tag_names.name_tags("a.txt", counts, [], is_train=True)
    assert names == {"B-PER": "B-PER", "O": "O"}


@pytest.mark.parametrize("value", ["O", "B-PER", "i-per", "S-B-C", "U"])
def test_a_tag_is_o_or_has_the_prefix_of_a_scheme(value):
    assert tag_names.is_tag(value)


@pytest.mark.parametrize("value", ["o", "PER", "B_PER", "X-PER", "i", ""])
def test_is_tag_is_false_for_values_without_a_prefix_of_a_scheme(value):
    assert not tag_names.is_tag(value)


def test_tags_in_small_letters_are_spelled_as_the_task_does(tmp_path):
    text = "a b-per\nb i-per\nc O\nd b-Loc\n\ne O\nf B-ORG\n"
    first, second = read_conll_file(tmp_path, text, "train.txt")
    assert first.tags == ["B-PER", "I-PER", "O", "B-Loc"]
    assert second.tags == ["O", "B-ORG"]


def test_tags_in_small_letters_are_spelled_as_labels_of_a_model_are(tmp_path):
    text = "a b-per\nb i-per\nc O\nd b-Loc\n\ne O\nf B-ORG\n"
    labels = ["O", "B-per", "I-per", "B-Loc", "B-ORG"]
    first, _ = read_conll_file(tmp_path, text, "train.txt", labels=labels)
    assert first.tags == ["B-per", "I-per", "O", "B-Loc"]


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("a PER\nb 0\nc 0\n\nd 0\n", r"not 0.*0 \(3\), PER \(1\)"),
        ("a B-PER\nb 0\n\nd 0\n", r"not 0.*0 \(2\), B-PER \(1\)"),
        ("a b-per\nb o\nc o\n\nd o\n", r"not o.*o \(3\), b-per \(1\)"),
        ("a B-PER\nb O\nc o\n\nd O\n", r"not o.*O \(2\), .*o \(1\)"),
        ("a PER\nb _\nc _\n\nd _\n", r"no word is tagged O.*_ \(3\), PER"),
        ("a PER\nb OTHER\n\nd OTHER\n", r"no word is tagged O.*OTHER \(2\)"),
        ("a B_PER\nb I_PER\nc O\n\nd O\n", "'B_PER', but a tag is such as"),
        ("a PER-B\nb PER-I\nc O\n\nd O\n", "'PER-B', but a tag is such as"),
    ],
)
def test_o_is_the_tag_of_words_outside(tmp_path, text, culprit):
    with pytest.raises(ValueError, match=culprit):
        read_conll_file(tmp_path, text, "train.txt")


def test_entities_in_most_words_are_warned_of(tmp_path, caplog):
    text = "a B-X\nb I-X\nc I-X\n\nd O\n"
    read_conll_file(tmp_path, text, "train.txt")
    (line,) = caplog.messages
    assert "I-X (2)" in line
    assert "O (1)" in line


def test_every_word_may_be_in_an_entity_if_labels_are_named(tmp_path):
    """Every word of an address is a part of it."""
    labels = ["O", "B-X", "I-X"]
    text = "a B-X\nb I-X\nc I-X\n\nd B-X\n"
    _, second = read_conll_file(tmp_path, text, "train.txt", labels=labels)
    assert second.tags == ["B-X"]


def sentences_of_types(count, times):
    """Returns the text of a sentence for each type, several times."""
    lines = [f"w O\nw O\nw B-type{i}\n" for i in range(count)] * times
    return "\n".join(lines)


# Many types that occur once, and very many types.
TOO_MANY = pytest.mark.parametrize(("count", "times"), [(21, 1), (101, 2)])


@TOO_MANY
def test_a_column_of_words_is_not_read_as_tags(tmp_path, count, times):
    text = sentences_of_types(count, times)
    error = f"{count} types.*type0, type1.*--label"
    with pytest.raises(ValueError, match=error):
        read_conll_file(tmp_path, text, "train.txt")


@TOO_MANY
def test_many_types_are_read_if_labels_name_them(tmp_path, count, times):
    text = sentences_of_types(count, times)
    labels = ["O", *(f"B-type{i}" for i in range(count))]
    examples = read_conll_file(tmp_path, text, "train.txt", labels=labels)
    assert len(examples) == count * times


def test_types_that_occur_more_than_once_may_be_many(tmp_path):
    text = sentences_of_types(21, 2)
    assert len(read_conll_file(tmp_path, text, "train.txt")) == 42
