"""Rows with tags, rows of this project's predictions, and contradictions.

test_labeled_spans.py tests the notations of spans.
"""

import json

import numpy as np
import pytest

from data.ner import predicted_entities
from data.ner.annotated_rows import AnnotatedRow, AnnotatedText
from data.ner.ner_options import NerOptions
from data.ner.ner_reader import NerReader
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import FileSets
from tests.support.log_lines import logged_warnings
from tests.support.tagged_words import read_annotated_texts

TEXT = "Anna left Oslo."
WORDS = ["Anna", "left", "Oslo", "."]
TAGS = ["B-PER", "O", "B-LOC", "O"]
SPANS = [[0, 4, "PER"], [10, 14, "LOC"]]


def read_rows(folder, *rows, name="train", labels=()):
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read_annotated_texts(path, name, labels)


@pytest.mark.parametrize(
    "row",
    [
        {"tokens": WORDS, "ner_tags": TAGS},
        {"id": 0, "words": WORDS, "tags": TAGS},
        {"tokens": WORDS, "labels": TAGS},
        {"tokens": WORDS, "ner_tags": ["b-per", "O", "b-loc", "O"]},
        {"tokens": WORDS, "ner_tags": ["PER", "O", "LOC", "O"]},
        # Of the hub: tags of other tasks, and entities as text.
        {"tokens": WORDS, "tags": ["A"] * 4, "pos_tags": [1] * 4}
        | {"ner_tags": TAGS, "spans": ["PER: Anna", "LOC: Oslo"]},
    ],
)
def test_each_notation_of_words_and_tags_is_read(tmp_path, row):
    example, _ = read_rows(tmp_path, row, row)
    assert example.words == WORDS
    assert [tag[-3:] for tag in example.tags] == ["PER", "O", "LOC", "O"]
    assert example.row == row


def test_words_of_a_test_set_need_no_tags(tmp_path):
    (example,) = read_rows(tmp_path, {"tokens": WORDS}, name="test")
    assert example.tags == ["O"] * 4


def test_a_tagged_sentence_needs_tags():
    row = AnnotatedRow({"tokens": WORDS}, "line 1")
    with pytest.raises(ValueError, match="line 1: found the keys tokens"):
        row.parse()


def test_a_text_is_not_a_tagged_sentence():
    row = AnnotatedRow({"text": TEXT, "tokens": []}, "line 1")
    annotated = row.parse(needs_annotations=False)
    assert isinstance(annotated, AnnotatedText)


def test_a_row_without_a_text_is_an_error_that_lists_its_keys():
    row = AnnotatedRow({"a": 1, "b": 2}, "line 1")
    with pytest.raises(ValueError, match="line 1: found the keys a, b"):
        row.parse()


def test_a_row_that_is_not_an_object_is_an_error():
    row = AnnotatedRow({}, "line 1")
    with pytest.raises(ValueError, match="line 1: found the keys of no object"):
        row.parse()


def test_a_text_of_a_test_set_needs_no_spans():
    row = AnnotatedRow({"text": TEXT}, "line 1")
    annotated = row.parse(needs_annotations=False)
    assert annotated == AnnotatedText(TEXT, [], is_annotated=False)


NUMBERED = {"tokens": WORDS, "ner_tags": [1, 0, 2, 0]}


def test_the_labels_name_numbers_of_tags(tmp_path):
    (example,) = read_rows(tmp_path, NUMBERED, labels=["O", "B-PER", "B-LOC"])
    assert example.tags == TAGS


def test_numbers_of_tags_without_labels_are_an_error(tmp_path):
    message = "the tags are numbers, such as 1, 0, 2"
    with pytest.raises(ValueError, match=message):
        read_rows(tmp_path, NUMBERED)


@pytest.mark.parametrize(
    ("row", "culprit"),
    [
        ({"tokens": WORDS, "ner_tags": TAGS[:3]}, "4 words.* 3 tags"),
        ({"tokens": WORDS, "ner_tags": ["NN", *TAGS[1:]]}, "'NN'"),
        ({"tokens": WORDS, "ner_tags": [*TAGS[:3], "o"]}, "not o"),
        ({"words": WORDS, "tags": TAGS, "labels": ["O"] * 4}, "`labels`"),
        ({"words": WORDS, "tags": TAGS, "text": "Anna left."}, "`text`"),
    ],
)
def test_wrong_tags_are_named(tmp_path, row, culprit):
    with pytest.raises(
        ValueError, match=rf"train.jsonl(, line 1)?: .*{culprit}"
    ):
        read_rows(tmp_path, row)


# A row whose keys all contain the same entities.
ROW_OF_ALL_KEYS = {
    "text": TEXT,
    "entities": [
        {"start": start, "end": end, "type": kind} for start, end, kind in SPANS
    ],
    "label": SPANS[::-1],
}


def test_a_row_may_state_the_same_tags_under_several_keys(tmp_path):
    row = ROW_OF_ALL_KEYS | {"words": WORDS, "tags": TAGS}
    (example,) = read_rows(tmp_path, row)
    assert example.tags == TAGS


@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        (
            {"label": SPANS[:1]},
            r"`entities` and `label`.*'LOC'.*\[\[0, 4, 'PER'\]\]",
        ),
        ({"label": []}, r"`entities` and `label`.*'LOC'.* and \[\]"),
        ({"entities": []}, r"`label` and `entities`.*10, 14.* and \[\]"),
        ({"spans": [[0, 4, "LOC"]]}, "`entities` and `spans`"),
        ({"words": WORDS, "tags": ["O"] * 4}, "`tags` and `entities`"),
        ({"words": WORDS, "labels": ["O"] * 4}, "`labels` and `entities`"),
    ],
)
@pytest.mark.parametrize("name", ["train", "test"])
def test_keys_that_contradict_each_other_are_an_error(
    tmp_path, name, change, culprit
):
    with pytest.raises(ValueError, match=f"line 1: {culprit}"):
        read_rows(tmp_path, ROW_OF_ALL_KEYS | change, name=name)


def test_annotations_of_label_studio_win_over_answers_in_its_data(tmp_path):
    """Label Studio's annotations are newer than the answers in its data."""
    value = {"start": 0, "end": 4, "labels": ["PER"]}
    data = {"text": TEXT, "entities": SPANS, "label": SPANS}
    annotations = [{"result": [{"value": value}]}]
    (example,) = read_rows(tmp_path, {"data": data, "annotations": annotations})
    assert example.tags == ["B-PER", "O", "O", "O"]


def test_an_annotation_without_a_result_has_no_spans(tmp_path):
    task = {"data": {"text": TEXT}, "annotations": [{"id": 1}]}
    (example,) = read_rows(tmp_path, task)
    assert example.tags == ["O"] * len(TAGS)


TASK = {
    "data": {"text": TEXT},
    "annotations": [
        {
            "result": [
                {"value": {"start": start, "end": end, "labels": [kind]}}
                for start, end, kind in SPANS
            ]
        }
    ],
}


LINES = "".join(
    f"{word} {tag}\n" for word, tag in zip(WORDS, TAGS, strict=True)
)
# {file of a set of one sentence: its contents}, in columns and in rows.
ONE_SENTENCE = {
    "columns": ("txt", LINES),
    "entities": ("jsonl", {"text": TEXT, "entities": SPANS}),
    "label": ("jsonl", {"text": TEXT, "label": SPANS, "id": 3}),
    "tags": ("jsonl", {"tokens": WORDS, "ner_tags": TAGS}),
    "Label Studio": ("jsonl", TASK),
}


def write_predictions(path, examples, tags, prefix):
    """Writes the tags that a model predicted for the only example."""
    predicted_entities.write_entities(
        path, examples, [tags], [np.ones(4)], prefix=prefix
    )


@pytest.fixture(params=ONE_SENTENCE)
def write_set(tmp_path, request):
    """Writes a set in each notation, and returns (the sets, its examples)."""
    suffix, contents = ONE_SENTENCE[request.param]
    text = contents if suffix == "txt" else json.dumps(contents)

    def write(name, set_name):
        (tmp_path / f"{name}.{suffix}").write_text(text)
        options = NerOptions(labels=["O", "B-PER", "B-LOC"])
        ner_sets = FileSets(NerReader(options), tmp_path, DataFileOptions())
        return ner_sets, ner_sets.read(set_name)

    return write


def test_predictions_of_a_test_set_are_read_as_annotations(tmp_path, write_set):
    ner_sets, examples = write_set("test", "test")
    write_predictions(tmp_path / "train.jsonl", examples, TAGS, prefix="")
    (example,) = ner_sets.read("train")
    assert (example.words, example.tags) == (WORDS, TAGS)


def test_predictions_beside_a_dev_set_leave_its_annotations(
    tmp_path, write_set
):
    ner_sets, examples = write_set("dev", "dev")
    wrong = ["O"] * 4
    predictions_file = tmp_path / "train.jsonl"
    write_predictions(predictions_file, examples, wrong, prefix="predicted_")
    (example,) = ner_sets.read("train")
    assert (example.words, example.tags) == (WORDS, TAGS)


def test_new_predictions_take_the_place_of_the_old_ones(tmp_path, write_set):
    _, examples = write_set("dev", "dev")
    path = tmp_path / "train.jsonl"
    write_predictions(path, examples, ["O"] * 4, prefix="predicted_")
    read_again = read_annotated_texts(path, "dev")
    write_predictions(tmp_path / "again", read_again, TAGS, "predicted_")
    again = json.loads((tmp_path / "again").read_text())
    assert again["predicted_entities"] == SPANS
    assert "predicted_predicted_labels" not in again


@pytest.mark.parametrize("classes", [["news"], ["a", "b", "c", "d"]])
def test_classes_of_a_text_are_not_read_as_tags_of_words(tmp_path, classes):
    row = {"text": TEXT, "words": WORDS, "entities": SPANS, "label": classes}
    (example,) = read_rows(tmp_path, row)
    assert example.tags == TAGS


def test_only_accepted_rows_of_prodigy_count(tmp_path, caplog):
    row = {"text": TEXT, "spans": [], "_input_hash": 1}
    answers = "accept", "reject", "ignore", "accept"
    rows = [row | {"answer": answer} for answer in answers]
    tagged = {"words": WORDS, "tags": TAGS, "answer": "reject"}
    assert len(read_rows(tmp_path, *rows, tagged)) == 2
    (warning,) = logged_warnings(caplog)
    assert "3 of 5 texts" in warning


def test_rows_without_text_are_left_out_and_counted(tmp_path, caplog):
    row = {"text": TEXT, "entities": SPANS}
    empty = [{"text": text, "entities": []} for text in (None, "", " \n")]
    task = TASK | {"data": {"text": None}, "annotations": [{"result": []}]}
    rows = [*empty, row, task, {"tokens": [], "ner_tags": []}]
    (example,) = read_rows(tmp_path, *rows)
    assert example.tags == TAGS
    (warning,) = logged_warnings(caplog)
    assert "5 of 6 texts are empty" in warning
    assert len(read_rows(tmp_path, *rows, name="test")) == 6
