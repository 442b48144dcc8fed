"""Rows with tags, rows of this project's predictions, and contradictions.

data/ner/tag_names.py names their tags. data/ner/annotations.py reads the rows.
"""

import json

import numpy as np
import pytest

from data.ner import entity_files, spans
from data.ner.ner_options import NerOptions
from data.ner.ner_processor import NerProcessor
from data.tables.data_file_options import DataFileOptions

TEXT = "Anna left Oslo."
WORDS = ["Anna", "left", "Oslo", "."]
TAGS = ["B-PER", "O", "B-LOC", "O"]
SPANS = [[0, 4, "PER"], [10, 14, "LOC"]]


def read(folder, *rows, name="train", labels=()):
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return spans.read_annotated_texts(path, name, labels)


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
    example, _ = read(tmp_path, row, row)
    assert example.words == WORDS
    assert [tag[-3:] for tag in example.labels] == ["PER", "O", "LOC", "O"]
    assert example.row == row
    (example,) = read(tmp_path, {"tokens": WORDS}, name="test")
    assert example.labels == ["O"] * 4


def test_numbers_of_tags_are_named(tmp_path):
    row = {"tokens": WORDS, "ner_tags": [1, 0, 2, 0]}
    with pytest.raises(
        ValueError, match="the tags are numbers, such as 1, 0, 2"
    ):
        read(tmp_path, row)
    (example,) = read(tmp_path, row, labels=["O", "B-PER", "B-LOC"])
    assert example.labels == TAGS


@pytest.mark.parametrize(
    "row, culprit",
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
        read(tmp_path, row)


@pytest.mark.parametrize(
    "change, culprit",
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
    entities = [{"start": a, "end": b, "type": kind} for a, b, kind in SPANS]
    row = {"text": TEXT, "entities": entities, "label": SPANS[::-1]}
    (example,) = read(tmp_path, row | {"words": WORDS, "tags": TAGS})
    assert example.labels == TAGS
    with pytest.raises(ValueError, match=f"line 1: {culprit}"):
        read(tmp_path, row | change, name=name)


def test_a_task_made_of_answers(tmp_path):
    """Label Studio's annotations are newer than the answers in its data."""
    value = {"start": 0, "end": 4, "labels": ["PER"]}
    data = {"text": TEXT, "entities": SPANS, "label": SPANS}
    annotations = [{"result": [{"value": value}]}]
    (example,) = read(tmp_path, {"data": data, "annotations": annotations})
    assert example.labels == ["B-PER", "O", "O", "O"]


def test_an_annotation_without_a_result_has_no_spans(tmp_path):
    task = {"data": {"text": TEXT}, "annotations": [{"id": 1}]}
    (example,) = read(tmp_path, task)
    assert example.labels == ["O"] * len(TAGS)


TASK = {
    "data": {"text": TEXT},
    "annotations": [
        {
            "result": [
                {"value": {"start": a, "end": b, "labels": [kind]}}
                for a, b, kind in SPANS
            ]
        }
    ],
}


@pytest.mark.parametrize(
    "row",
    [
        None,
        {"text": TEXT, "entities": SPANS},
        {"text": TEXT, "label": SPANS, "id": 3},
        {"tokens": WORDS, "ner_tags": TAGS},
        TASK,
    ],
)
@pytest.mark.parametrize("name", ["dev", "test"])
def test_predictions_are_read_again(tmp_path, row, name):
    """The answers of columns (None) and of rows, right or corrected."""
    path = tmp_path / ("dev.txt" if row is None else "dev.jsonl")
    pairs = zip(WORDS, TAGS, strict=True)
    lines = [f"{word} {tag}\n" for word, tag in pairs]
    path.write_text("".join(lines) if row is None else json.dumps(row))
    path = path.rename(tmp_path / path.name.replace("dev", name))
    options = NerOptions(labels=["O", "B-PER", "B-LOC"])
    reader = NerProcessor(tmp_path, DataFileOptions(), options)
    examples = reader.read("eval" if name == "dev" else "predict")
    # A wrong answer for a dev set, and a right one for a test set.
    answers = [["O"] * 4] if name == "dev" else [TAGS]
    prefix = "predicted_" if name == "dev" else ""
    predictions_file = tmp_path / "train.jsonl"
    entity_files.write_entities(
        predictions_file, examples, answers, [np.ones(4)], prefix=prefix
    )
    (example,) = reader.read("train")
    assert (example.words, example.labels) == (WORDS, TAGS)
    # Its own predictions have the names of the first ones.
    (example,) = spans.read_annotated_texts(predictions_file, "dev")
    entity_files.write_entities(
        tmp_path / "again", [example], [TAGS], [np.ones(4)], "predicted_"
    )
    again = json.loads((tmp_path / "again").read_text())
    assert again["predicted_entities"] == SPANS
    assert "predicted_predicted_labels" not in again


@pytest.mark.parametrize("classes", [["news"], ["a", "b", "c", "d"]])
def test_classes_of_a_text_are_no_tags(tmp_path, classes):
    row = {"text": TEXT, "words": WORDS, "entities": SPANS, "label": classes}
    (example,) = read(tmp_path, row)
    assert example.labels == TAGS


def test_only_accepted_rows_of_prodigy_count(tmp_path, caplog):
    row = {"text": TEXT, "spans": [], "_input_hash": 1}
    answers = "accept", "reject", "ignore", "accept"
    rows = [row | {"answer": answer} for answer in answers]
    tagged = {"words": WORDS, "tags": TAGS, "answer": "reject"}
    assert len(read(tmp_path, *rows, tagged)) == 2
    assert "3 of 5 texts were not annotated, or were rejected" in caplog.text


def test_rows_without_text_are_left_out_and_counted(tmp_path, caplog):
    row = {"text": TEXT, "entities": SPANS}
    empty = [{"text": text, "entities": []} for text in (None, "", " \n")]
    task = TASK | {"data": {"text": None}, "annotations": [{"result": []}]}
    rows = [*empty, row, task, {"tokens": [], "ner_tags": []}]
    (example,) = read(tmp_path, *rows)
    assert example.labels == TAGS
    assert "5 of 6 texts are empty. They are left out" in caplog.text
    assert len(read(tmp_path, *rows, name="test")) == 6
