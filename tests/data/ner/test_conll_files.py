"""Words and tags in the columns of files and of sheets."""

import pytest

from data.ner.ner_options import NerOptions
from data.ner.ner_reader import NerReader
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import FileSets
from tests.support.log_lines import logged_warnings
from tests.support.tables import workbooks
from tests.support.tagged_words import (
    TAGS,
    WORDS,
    read_conll_file,
    tags_of,
    words_of,
)


def test_a_table_of_a_test_set_may_lack_its_tags(tmp_path):
    text = "Sentence #,Word\n1,Anna\n,left\n2,Oslo\n"
    examples = read_conll_file(
        tmp_path, text, "test.csv", "test", ["O", "B-PER"]
    )
    assert words_of(examples) == [["Anna", "left"], ["Oslo"]]
    assert {tag for example in examples for tag in example.tags} == {"O"}


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("word,tag\nAnna,B-PER\nleft\n", "line 3: .*'left'"),
        ("word,tag\nAnna,B-PER\n,O\n", "line 3: the word is ''"),
        ("Wort,Etikett\nAnna,B-PER\nleft,O\n", "line 1: .*'Etikett'"),
        # Words in a notation that loses commas.
        (
            "tokens,ner_tags\n\"['a' 'b']\",\"['O' 'O']\"\n",
            r"line 2: 2 tags .*\['a' 'b'\]",
        ),
        ('tokens,ner_tags\na b,"[0, 3]"\n', "--labels"),
        (
            'word,tag\nAnna,B-PER\n"left,O\n',
            r'line 3: unexpected end of data\. Close the quote, or .* \(""\)$',
        ),
        ('word,tag\n"An"na,B-PER\n', "line 2: .*Close the quote"),
    ],
)
def test_the_error_shows_what_is_wrong_in_a_table(tmp_path, text, culprit):
    with pytest.raises(ValueError, match=f"train.csv.*{culprit}"):
        read_conll_file(tmp_path, text)


@pytest.fixture
def latin_folder(tmp_path):
    """A folder whose train set is in another encoding than UTF-8."""
    text = "J\xf6rg B-PER\nging O\n\nAnna B-PER\nging O\n"
    (tmp_path / "train.txt").write_bytes(text.encode("cp1252"))
    return tmp_path


def test_an_error_names_the_flag_for_the_encoding(latin_folder):
    ner_sets = FileSets(
        NerReader(NerOptions()), latin_folder, DataFileOptions()
    )
    with pytest.raises(ValueError, match="--encoding=cp1252"):
        ner_sets.read("train")


def test_a_file_is_read_in_the_encoding_of_the_flag(latin_folder):
    options = NerOptions(encoding="cp1252")
    ner_sets = FileSets(NerReader(options), latin_folder, DataFileOptions())
    assert ner_sets.read("train")[0].words == ["J\xf6rg", "ging"]


def test_a_row_of_a_sheet_without_a_word_is_named(tmp_path):
    pytest.importorskip("python_calamine")
    rows = [["Word", "Tag"], ["Anna", "B-PER"], [], [None, "O"]]
    workbooks.write_workbook(tmp_path / "train.xlsx", {"s": rows})
    options = NerOptions()
    ner_sets = FileSets(NerReader(options), tmp_path, DataFileOptions())
    with pytest.raises(ValueError, match="line 4: the word is ''"):
        ner_sets.read("train")


WORDS_AND_TAGS = [
    ["Anna", "B-PER"],
    ["left", "O"],
    ["Oslo", "B-LOC"],
    [".", "O"],
    [],
    ["It", "O"],
    [",", "O"],
    ['"', "O"],
    ["rains", "O"],
]


NUMBERED = [
    ["Sentence #", "Word", "Note", "Tag"],
    [1, "Anna", "a\tb\nc", "B-PER"],
    [None, "left", None, "O"],
    [None, "Oslo", None, "B-LOC"],
    [None, ".", None, "O"],
    [2, "It", None, "O"],
    [None, ",", None, "O"],
    [None, '"', None, "O"],
    [None, "rains", None, "O"],
]


SHEETS = {
    "empty rows": [["Word", "Tag"], *WORDS_AND_TAGS],
    "without names": WORDS_AND_TAGS,
    "numbers of sentences": NUMBERED,
}


@pytest.mark.parametrize("name", SHEETS)
def test_sheets_of_excel_are_read(tmp_path, name, caplog):
    pytest.importorskip("python_calamine")
    workbooks.write_workbook(tmp_path / "train.xlsx", {"s": SHEETS[name]})
    options = NerOptions()
    ner_sets = FileSets(NerReader(options), tmp_path, DataFileOptions())
    examples = ner_sets.read("train")
    assert words_of(examples) == WORDS
    assert tags_of(examples) == TAGS
    assert not logged_warnings(caplog)
