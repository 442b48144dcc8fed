"""Texts with annotated spans, in the formats of the tools that write them."""

import gzip
import json

import pytest

from data.ner import predicted_entities
from data.ner.ner_options import NerOptions
from data.ner.ner_reader import NerReader
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import FileSets
from tests.support.log_lines import logged_warnings
from tests.support.paths import ROOT
from tests.support.tagged_words import read_annotated_texts

# The same spans in the format of each tool, and of predict.py's answers.
FORMATS = json.loads((ROOT / "tests/testdata/ner/formats.json").read_bytes())
TEXT = FORMATS["ours"]["text"]
WORDS = ["Anna", "left", "New", "York", "\u2014", "in", "\U0001f600", "Oslo"]
TAGS = ["B-PER", "O", "B-LOC", "I-LOC", "O", "O", "O", "B-LOC", "O"]


def label_studio(annotations):
    return FORMATS["Label Studio"] | {"annotations": annotations}


def read_records(folder, *records, name="train.jsonl", needs_spans=True):
    path = folder / name
    text = "\n".join(map(json.dumps, records))
    if name.endswith(".json"):
        text = json.dumps([*records], indent=2)
    path.write_text(text, encoding="utf-8")
    return read_annotated_texts(path, "dev" if needs_spans else "test")


@pytest.mark.parametrize("name", ["train.jsonl", "train.json"])
@pytest.mark.parametrize("file_format", FORMATS)
def test_the_spans_of_each_tool_become_tags(tmp_path, file_format, name):
    (example, again) = read_records(
        tmp_path, FORMATS[file_format], FORMATS[file_format], name=name
    )
    assert example.tags == again.tags == TAGS
    assert example.words == [*WORDS, "."]
    (example,) = read_records(
        tmp_path, FORMATS[file_format], name=name, needs_spans=False
    )
    assert "entities" not in example.row


def test_spans_that_cut_words_are_widened_and_counted(tmp_path, caplog):
    caplog.set_level("INFO")
    text = "the Franco-German border at \u6771\u4eac\u90fd ."
    spanned = [[11, 17, "X"], [28, 30, "Z"], [17, 25, "Y"]]
    (example,) = read_records(tmp_path, {"text": text, "entities": spanned})
    assert example.words == [*text.split()[:4], *text[28:31], "."]
    assert example.tags == ["O", "B-X", "B-Y", "O", "B-Z", "I-Z", "O", "O"]
    (line,) = caplog.messages
    assert "1 of 3 spans" in line
    assert "'German' to 'Franco-German'" in line


OWN = {"start": 25, "end": 29, "label": "LOC", "text": "Oslo"}


@pytest.mark.parametrize(
    ("record", "culprit"),
    [
        ({"entities": [[0, 4, "A"], [3, 9, "B"]]}, "overlap"),
        ({"spans": [OWN]}, "'slo.'"),
        ({"entities": [[28, 30, "A"]]}, "of 29 characters"),
        ({"entities": [[4, 5, "A"]]}, "no word"),
        ({"entities": [["0", 4, "A"]]}, "start, end, label"),
        ({"label": "news"}, "news"),
        ({"text": 3, "label": []}, "`text`"),
    ],
)
def test_errors_name_line_and_text(tmp_path, record, culprit):
    with pytest.raises(ValueError, match=f"train.jsonl, line 2: .*{culprit}"):
        read_records(tmp_path, FORMATS["ours"], {"text": TEXT, **record})


def test_label_studio_changes_white_space(tmp_path):
    value = {"start": 4, "end": 9, "text": "\\nleft", "labels": ["LOC"]}
    (example,) = read_records(
        tmp_path, label_studio([{"result": [{"value": value}]}])
    )
    assert example.tags[1] == "B-LOC"


# One text that was annotated, and three that were not or were rejected.
PARTLY_ANNOTATED = [
    FORMATS["Label Studio"],
    label_studio([]),
    label_studio(FORMATS["Label Studio"]["annotations"][:1]),
    FORMATS["Prodigy"] | {"answer": "reject"},
]


def test_texts_that_nobody_annotated_are_skipped(tmp_path, caplog):
    (example,) = read_records(tmp_path, *PARTLY_ANNOTATED)
    assert example.tags == TAGS
    (skipped,) = caplog.messages
    assert "3 of 4 texts were not annotated, or were rejected" in skipped
    assert skipped.endswith("They are skipped")


def test_texts_of_a_test_set_that_nobody_annotated_have_no_entities(
    tmp_path, caplog
):
    records = [*PARTLY_ANNOTATED, {"text": TEXT}]
    rows = read_records(tmp_path, *records, needs_spans=False)
    (warning,) = logged_warnings(caplog)
    assert "4 of 5 texts" in warning
    assert [set(row.tags) == {"O"} for row in rows] == [False, *[True] * 4]


def test_a_text_with_two_annotations_needs_a_ground_truth(tmp_path):
    annotations = [*FORMATS["Label Studio"]["annotations"], {"result": []}]
    with pytest.raises(ValueError, match="2 annotations"):
        read_records(tmp_path, label_studio(annotations))
    annotations[-1]["ground_truth"] = True
    (example,) = read_records(tmp_path, label_studio(annotations))
    assert {*example.tags} == {"O"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", " is not valid JSON"),
        (b'{"text": "\xff", "entities": []}', ".*UTF-8"),
        (b"3", ": found the keys of no object"),
    ],
)
def test_a_damaged_line_is_named_by_its_number(tmp_path, line, reason):
    path = tmp_path / "dev.jsonl"
    path.write_bytes(b'{"text": "a", "entities": []}\n' + line)
    with pytest.raises(ValueError, match=rf"dev\.jsonl, line 2{reason}"):
        read_annotated_texts(path, "dev")


@pytest.fixture
def create_sets(tmp_path):
    """(*labels) -> the sets of a folder with a train set of two rows."""
    read_records(tmp_path, {"text": "", "label": []}, FORMATS["doccano"])

    def create_sets(*labels):
        options = NerOptions(labels=labels or None)
        return FileSets(NerReader(options), tmp_path, DataFileOptions())

    return create_sets


def test_the_labels_of_a_folder_are_those_of_its_train_set(create_sets):
    ner_sets = create_sets()
    assert ner_sets.read_labels() == ["O", "B-LOC", "B-PER", "I-LOC", "I-PER"]
    (example,) = ner_sets.read("train")
    assert (example.text, example.words) == (TEXT, [*WORDS, "."])


def test_a_set_of_a_folder_may_be_compressed(create_sets, tmp_path):
    compressed = gzip.compress((tmp_path / "train.jsonl").read_bytes())
    (tmp_path / "dev.jsonl.gz").write_bytes(compressed)
    (example,) = create_sets().read("train")
    (again,) = create_sets().read("dev")
    assert again.tags == example.tags


BILOU = ["O", "B-LOC", "L-LOC", "U-LOC", "U-PER"]


def test_spans_become_tags_in_the_scheme_of_the_labels(create_sets):
    (example,) = create_sets(*BILOU).read("train")
    assert example.tags[2:4] == ["B-LOC", "L-LOC"]


def test_each_row_of_a_test_set_gets_an_answer(create_sets, tmp_path):
    """The texts of a test set need no annotations, and may be empty."""
    rows = {"text": TEXT}, {"text": None}
    read_records(tmp_path, *rows, name="test.jsonl", needs_spans=False)
    example, empty = create_sets(*BILOU).read("test")
    assert {*example.tags} == {"O"}
    predicted_entities.write_entities(tmp_path / "made", [empty], [[]], [[]])
    (line,) = (tmp_path / "made").read_text().splitlines()
    assert json.loads(line)["words"] == []


def test_a_tag_that_no_label_names_is_an_error(create_sets):
    with pytest.raises(ValueError, match=r"line 2: .*'B-PER'"):
        create_sets("O", "B-LOC").read("train")


def test_tags_of_words_are_not_read_as_labels_of_spans(tmp_path):
    def read_labels(*labels):
        entities = [[0, 4, labels[0]], [5, 9, labels[1]]]
        return read_records(
            tmp_path, {"text": "Anna Berg", "entities": entities}
        )

    with pytest.raises(
        ValueError,
        match="tags of words, such as 'B-PER'",
    ):
        read_labels("B-PER", "I-PER")
    assert len(read_labels("B-cell", "I-beam")) == 1
