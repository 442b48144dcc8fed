"""Tables of tagged words, sentences, and the tags that a file may have.

data/ner/column_layouts.py finds how they are written,
data/ner/column_sentences.py parts them into sentences, and
data/ner/tag_names.py names their tags. data/ner/columns.py reads these tables.
"""

import pytest

from data.ner.ner_options import NerOptions
from data.ner.ner_processor import NerProcessor
from data.tables.data_file_options import DataFileOptions
from tests.support import workbooks

# Two sentences of every layout.
WORDS = [["Anna", "left", "Oslo", "."], ["It", ",", '"', "rains"]]
TAGS = [["B-PER", "O", "B-LOC", "O"], ["O", "O", "O", "O"]]
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


def read(
    folder, text, name="train.csv", purpose="train", labels=None, **columns
):
    """Writes a file, and returns its examples."""
    (folder / name).write_bytes(text.encode())
    options = NerOptions(labels=labels, **columns)
    reader = NerProcessor(folder, DataFileOptions(), options)
    return reader.read(purpose)


def shorten(examples):
    """Returns the words and the tags of each example."""
    return words_of(examples), [example.labels for example in examples]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("layout", TABLES)
def test_words_and_tags_are_found_in_each_layout(tmp_path, layout, end):
    text = "\ufeff" + TABLES[layout].replace("\n", end)
    assert shorten(read(tmp_path, text)) == (WORDS, TAGS)


def words_of(examples):
    return [example.words for example in examples]


def test_a_table_may_end_in_txt(tmp_path):
    examples = read(tmp_path, TABLES["Kaggle's"], "dev.txt", "eval")
    assert shorten(examples) == (WORDS, TAGS)


def test_cells_of_a_tsv_file_are_not_quoted(tmp_path):
    text = TABLES["Kaggle's"].replace('","', "COMMA").replace(",", "\t")
    text = text.replace("COMMA", ",").replace('""""', '"')
    assert shorten(read(tmp_path, text, "train.tsv")) == (WORDS, TAGS)


def test_the_last_column_may_tell_where_a_sentence_begins(tmp_path):
    text = "Word\tTag\tSentence\nAnna\tO\t1\nleft\tO\t\nOslo\tO\t2\n"
    examples = read(tmp_path, text, "test.tsv", "predict")
    assert words_of(examples) == [["Anna", "left"], ["Oslo"]]


def test_a_table_has_no_comments(tmp_path):
    text = "Word,Tag,POS\n#,O,X\n#,B-X,X\n"
    examples = read(tmp_path, text, "test.csv", "predict", ["O", "B-X"])
    assert words_of(examples) == [["#", "#"]]


def test_a_test_set_may_lack_its_tags(tmp_path):
    text = "Sentence #,Word\n1,Anna\n,left\n2,Oslo\n"
    examples = read(tmp_path, text, "test.csv", "predict")
    assert words_of(examples) == [["Anna", "left"], ["Oslo"]]
    assert {tag for example in examples for tag in example.labels} == {"O"}


@pytest.mark.parametrize(
    "text, culprit",
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
def test_what_is_wrong_in_a_table_is_shown(tmp_path, text, culprit):
    with pytest.raises(ValueError, match=f"train.csv.*{culprit}"):
        read(tmp_path, text)


def test_numbers_are_named_by_labels(tmp_path):
    text = "a 1\nb 2\n\nc 0\n"
    labels = ["O", "B-X", "I-X"]
    examples = read(tmp_path, text, "train.txt", labels=labels)
    assert [example.labels for example in examples] == [["B-X", "I-X"], ["O"]]
    with pytest.raises(ValueError, match="tag 2 has no name"):
        read(tmp_path, text, "train.txt", labels=labels[:2])


def test_the_tag_may_come_before_the_word(tmp_path):
    """As in MIT Movie, also if a word looks like a tag."""
    text = "O\tshow\nB-ACTOR\tO\nI-ACTOR\tWinfrey\nO\tI\n\nO\tfilms\n"
    examples = read(tmp_path, text, "train.txt")
    assert [example.words for example in examples] == [
        ["show", "O", "Winfrey", "I"],
        ["films"],
    ]
    assert examples[0].labels == ["O", "B-ACTOR", "I-ACTOR", "O"]
    # Types without B- and I-.
    text = "O show\nACTOR Tom\nO in\nO films\n\nO now\n"
    examples = read(tmp_path, text, "dev.txt", "eval")
    assert examples[0].labels == ["O", "B-ACTOR", "O", "O"]


def test_tags_in_small_letters_are_spelled_as_the_task_does(tmp_path):
    text = "a b-per\nb i-per\nc O\nd b-Loc\n\ne O\nf B-ORG\n"
    first, second = read(tmp_path, text, "train.txt")
    assert first.labels == ["B-PER", "I-PER", "O", "B-Loc"]
    assert second.labels == ["O", "B-ORG"]
    labels = ["O", "B-per", "I-per", "B-Loc", "B-ORG"]
    first, _ = read(tmp_path, text, "train.txt", labels=labels)
    assert first.labels == ["B-per", "I-per", "O", "B-Loc"]


@pytest.mark.parametrize(
    "text, culprit",
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
        read(tmp_path, text, "train.txt")


def test_entities_in_most_words_are_warned_of(tmp_path, caplog):
    text = "a B-X\nb I-X\nc I-X\n\nd O\n"
    read(tmp_path, text, "train.txt")
    (line,) = caplog.messages
    assert "I-X (2)" in line
    assert "O (1)" in line
    # Every word of an address is a part of it.
    labels = ["O", "B-X", "I-X"]
    text = text.replace("O", "B-X")
    assert read(tmp_path, text, "train.txt", labels=labels)[1].labels == ["B-X"]


def test_a_test_set_without_tags_expects_none(tmp_path):
    with pytest.raises(ValueError, match=r"2 columns.* in column 3\. Set"):
        read(
            tmp_path,
            "Anna x\nleft y\n",
            "test.txt",
            "predict",
            text_column=3,
            label_column=9,
        )


@pytest.mark.parametrize("count, times", [(21, 1), (101, 2)])
def test_a_column_of_words_is_not_read_as_tags(tmp_path, count, times):
    lines = [f"w O\nw O\nw B-type{i}\n" for i in range(count)] * times
    text = "\n".join(lines)
    with pytest.raises(
        ValueError, match=f"{count} types.*type0, type1.*--label"
    ):
        read(tmp_path, text, "train.txt")
    labels = ["O", *(f"B-type{i}" for i in range(count))]
    assert len(read(tmp_path, text, "train.txt", labels=labels)) == len(lines)
    # Types that occur more than once may be many.
    if times == 1:
        text = "\n".join(lines * 2)
        assert len(read(tmp_path, text, "train.txt")) == 2 * count


def test_a_file_without_empty_lines_is_refused(tmp_path):
    text = "Anna B-PER\nleft O\n. O\n" * 48
    for name, purpose in (("train", "train"), ("dev", "eval")):
        with pytest.raises(ValueError, match="one sentence of 144 words: put"):
            read(tmp_path, text, f"{name}.txt", purpose, ["O", "B-PER"])
    (tmp_path / "train.txt").write_text("Anna B-PER\nleft O\n")
    one = DataFileOptions(data_file=str(tmp_path / "train.txt"))
    reader = NerProcessor(None, one, NerOptions())
    with pytest.raises(ValueError, match="one sentence of 2 words: put"):
        reader.read("train")
    # A test set may be one sentence.
    text = "Anna B-PER\nleft O\n"
    assert len(read(tmp_path, text, "test.txt", "predict", ["O", "B-PER"])) == 1


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
    words, tags = shorten(read(tmp_path, text, name))
    assert words == [["Anna", "left"], ["in", "Oslo"]]
    assert tags == [["B-PER", "O"], ["O", "B-LOC"]]


def test_a_sentence_in_a_cell_may_contain_line_breaks(tmp_path):
    text = 'words,labels\n"Anna\nleft",B-PER O\n"in Oslo",O B-LOC\n'
    words, tags = shorten(read(tmp_path, text))
    assert words == [["Anna", "left"], ["in", "Oslo"]]
    assert tags == [["B-PER", "O"], ["O", "B-LOC"]]


def test_a_file_is_read_in_the_encoding_of_the_flag(tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(
        "J\xf6rg B-PER\nging O\n\nAnna B-PER\nging O\n".encode("cp1252")
    )
    reader = NerProcessor(tmp_path, DataFileOptions(), NerOptions())
    with pytest.raises(ValueError, match="--encoding=cp1252"):
        reader.read("train")
    options = NerOptions(encoding="cp1252")
    reader = NerProcessor(tmp_path, DataFileOptions(), options)
    assert reader.read("train")[0].words == ["J\xf6rg", "ging"]


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
    path = workbooks.write_workbook(
        tmp_path / "train.xlsx", {"s": SHEETS[name]}
    )
    options = NerOptions()
    reader = NerProcessor(tmp_path, DataFileOptions(), options)
    examples = reader.read_file(path, "train")
    assert [example.words for example in examples] == WORDS
    assert [example.labels for example in examples] == TAGS
    assert "left out" not in caplog.text


def test_a_row_of_a_sheet_without_a_word_is_named(tmp_path):
    pytest.importorskip("python_calamine")
    rows = [["Word", "Tag"], ["Anna", "B-PER"], [], [None, "O"]]
    path = workbooks.write_workbook(tmp_path / "train.xlsx", {"s": rows})
    options = NerOptions()
    reader = NerProcessor(tmp_path, DataFileOptions(), options)
    with pytest.raises(ValueError, match="line 4: the word is ''"):
        reader.read_file(path, "train")
