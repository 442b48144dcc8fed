"""Where sentences of words and tags in columns begin and end."""

import pytest

from data.ner.ner_options import NerOptions
from data.ner.ner_reader import NerReader
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import FileSets
from tests.support.tagged_words import (
    read_conll_file,
    tags_of,
    words_of,
)


def test_the_last_column_may_tell_where_a_sentence_begins(tmp_path):
    text = "Word\tTag\tSentence\nAnna\tO\t1\nleft\tO\t\nOslo\tO\t2\n"
    examples = read_conll_file(
        tmp_path, text, "test.tsv", "test", ["O", "B-PER"]
    )
    assert words_of(examples) == [["Anna", "left"], ["Oslo"]]


@pytest.mark.parametrize(
    ("name", "set_name"), [("train.txt", "train"), ("dev.txt", "dev")]
)
def test_a_file_without_empty_lines_is_refused(tmp_path, name, set_name):
    text = "Anna B-PER\nleft O\n. O\n" * 48
    with pytest.raises(ValueError, match="one sentence of 144 words: put"):
        read_conll_file(tmp_path, text, name, set_name, ["O", "B-PER"])


def test_a_data_file_of_one_sentence_is_refused(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("Anna B-PER\nleft O\n")
    data = DataFileOptions(data_file=str(path))
    ner_sets = FileSets(NerReader(NerOptions()), None, data)
    with pytest.raises(ValueError, match="one sentence of 2 words: put"):
        ner_sets.read("train")


def test_a_test_set_may_be_one_sentence(tmp_path):
    text = "Anna B-PER\nleft O\n"
    labels = ["O", "B-PER"]
    examples = read_conll_file(tmp_path, text, "test.txt", "test", labels)
    assert words_of(examples) == [["Anna", "left"]]


def test_a_sentence_in_a_cell_may_contain_line_breaks(tmp_path):
    text = 'words,labels\n"Anna\nleft",B-PER O\n"in Oslo",O B-LOC\n'
    examples = read_conll_file(tmp_path, text)
    assert words_of(examples) == [["Anna", "left"], ["in", "Oslo"]]
    assert tags_of(examples) == [["B-PER", "O"], ["O", "B-LOC"]]


def test_a_line_with_fewer_columns_than_the_others_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"dev\.txt, line 2: .* 1 columns"):
        read_conll_file(tmp_path, "a O\nb\n", "dev.txt", "dev", ["O", "B-LOC"])
