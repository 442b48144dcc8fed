"""Separators and columns of files of words and tags."""

import pytest

from data.ner import conll_layout
from tests.support.tagged_words import (
    TAGS,
    WORDS,
    read_conll_file,
    tags_of,
    words_of,
)

TABLES = {
    "Kaggle's": (
        "Sentence #,Word,POS,Tag\nSentence: 1,Anna,NN,B-PER\n,left,V,O\n"
        ',Oslo,NN,B-LOC\n,.,.,O\nSentence: 2,It,P,O\n,",",P,O\n,"""",P,O\n'
        ",rains,V,O\n"
    ),
    "a number in every row": (
        "sentence_id,words,labels\n0,Anna,B-PER\n0,left,O\n0,Oslo,B-LOC\n"
        '0,.,O\n1,It,O\n1,",",O\n1,"""",O\n1,rains,O\n'
    ),
    "empty rows of a spreadsheet": (
        "Word;Tag\nAnna;B-PER\nleft;O\nOslo;B-LOC\n.;O\n;\nIt;O\n,;O\n"
        '"""";O\nrains;O\n;\n'
    ),
    "empty lines": (
        'word,tag\nAnna,B-PER\nleft,O\nOslo,B-LOC\n.,O\n\nIt,O\n",",O\n'
        '"""",O\nrains,O\n'
    ),
    "without names": (
        'Anna,B-PER\nleft,O\nOslo,B-LOC\n.,O\n\nIt,O\n",",O\n"""",O\nrains,O\n'
    ),
    "empty cells as of pandas": (
        "Sentence #,Word,POS,Tag\nSentence: 1,Anna,NNP,B-PER\nNaN,left,VBD,O\n"
        "NaN,Oslo,NNP,B-LOC\nNaN,.,.,O\nSentence: 2,It,PRP,O\n"
        'NaN,",",",",O\nNaN,"""",P,O\nNaN,rains,VBZ,O\n'
    ),
    "the tag first": (
        "Tag,Token,Sent_ID\nB-PER,Anna,a\nO,left,a\nB-LOC,Oslo,a\nO,.,a\n"
        'O,It,b\nO,",",b\nO,"""",b\nO,rains,b\n'
    ),
    "a sentence in each row": (
        "Sentence #,Sentence,Tag\n1,Anna left Oslo .,\"['B-PER', 'O', 'B-LOC',"
        " 'O']\"\n2,\"It , \"\" rains\",\"['O' 'O' 'O' 'O']\"\n"
    ),
    "a sentence in each row, without numbers": (
        "Sentence,Tags\nAnna left Oslo .,\"['B-PER', 'O', 'B-LOC', 'O']\"\n"
        "\"It , \"\" rains\",\"['O' 'O' 'O' 'O']\"\n"
    ),
    "lists of words": (
        "id,tokens,ner_tags\n0,\"['Anna', 'left', 'Oslo', '.']\",\"['B-PER', "
        "'O', 'B-LOC', 'O']\"\n1,\"['It', ',', '\"\"', 'rains']\",\"[O, O, O, O"
        ']"\n'
    ),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("layout", TABLES)
def test_words_and_tags_are_found_in_each_layout(tmp_path, layout, end):
    text = "\ufeff" + TABLES[layout].replace("\n", end)
    examples = read_conll_file(tmp_path, text)
    assert words_of(examples) == WORDS
    assert tags_of(examples) == TAGS


def test_a_table_may_end_in_txt(tmp_path):
    examples = read_conll_file(tmp_path, TABLES["Kaggle's"], "train.txt")
    assert words_of(examples) == WORDS
    assert tags_of(examples) == TAGS


def test_cells_of_a_tsv_file_are_not_quoted(tmp_path):
    text = TABLES["Kaggle's"].replace('","', "COMMA").replace(",", "\t")
    text = text.replace("COMMA", ",").replace('""""', '"')
    examples = read_conll_file(tmp_path, text, "train.tsv")
    assert words_of(examples) == WORDS
    assert tags_of(examples) == TAGS


def test_a_table_has_no_comments(tmp_path):
    text = "Word,Tag,POS\n#,O,X\n#,B-X,X\n"
    examples = read_conll_file(tmp_path, text, "test.csv", "test", ["O", "B-X"])
    assert words_of(examples) == [["#", "#"]]


def test_the_tag_may_come_before_the_word(tmp_path):
    """MIT Movie has this order. A word, such as O, may look like a tag."""
    text = "O\tshow\nB-ACTOR\tO\nI-ACTOR\tWinfrey\nO\tI\n\nO\tfilms\n"
    examples = read_conll_file(tmp_path, text, "train.txt")
    assert words_of(examples) == [
        ["show", "O", "Winfrey", "I"],
        ["films"],
    ]
    assert examples[0].tags == ["O", "B-ACTOR", "I-ACTOR", "O"]


def test_types_without_prefixes_may_come_before_the_word(tmp_path):
    text = "O show\nACTOR Tom\nO in\nO films\n\nO now\n"
    examples = read_conll_file(tmp_path, text, "train.txt")
    assert examples[0].tags == ["O", "B-ACTOR", "O", "O"]


def test_a_test_set_without_tags_expects_none(tmp_path):
    with pytest.raises(ValueError, match=r"2 columns.* in column 3\. Set"):
        read_conll_file(
            tmp_path,
            "Anna x\nleft y\n",
            "test.txt",
            "test",
            ["O", "B-PER"],
            text_column=3,
            label_column=9,
        )


@pytest.mark.parametrize(
    "text",
    [
        "word|tag\nAnna|B-PER\nleft|O\n\nin|O\nOslo|B-LOC\n",
        'word;tag\n"Anna";"B-PER"\nleft;O\n\nin;O\nOslo;B-LOC\n',
        'word,tag\nAnna,B-PER\nleft,"O"\n\nin,O\nOslo,B-LOC\n',
    ],
)
@pytest.mark.parametrize("name", ["train.csv", "train.CSV"])
def test_tables_are_read_with_any_mark(tmp_path, text, name):
    examples = read_conll_file(tmp_path, text, name)
    assert words_of(examples) == [["Anna", "left"], ["in", "Oslo"]]
    assert tags_of(examples) == [["B-PER", "O"], ["O", "B-LOC"]]


@pytest.mark.parametrize(
    ("line", "separator", "cells"),
    [
        ("Anna  B-PER", None, ["Anna", "B-PER"]),
        ("Anna\tNN O", None, ["Anna", "NN", "O"]),
        ('",",O', ",", [",", "O"]),
        (" \tO\t", "\t", [" ", "O"]),
        (",", ",", []),
    ],
)
def test_a_line_is_cut_at_blanks_or_its_separator(line, separator, cells):
    assert conll_layout.split_line(line, separator) == cells
