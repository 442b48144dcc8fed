"""Texts with annotated spans, in the forms of the tools that write them."""

import collections
import gzip
import json

import pytest

from data.ner import reading, spans
from data.ner import sentence_windows as windows

TEXT = "Anna left New York\u2014in \U0001f600 Oslo."
SPANS = [[0, 4, "PER"], [10, 18, "LOC"], [24, 28, "LOC"]]
WORDS = ["Anna", "left", "New", "York", "\u2014", "in", "\U0001f600", "Oslo"]
TAGS = ["B-PER", "O", "B-LOC", "I-LOC", "O", "O", "O", "B-LOC", "O"]


def dicts(start="start", end="end", label="label", wrap=lambda name: name):
    return [{start: a, end: b, label: wrap(name)} for a, b, name in SPANS]


def label_studio(**changes):
    results = [
        {"type": "labels", "value": {**value, "text": TEXT[a:b]}}
        for (a, b, _), value in zip(
            SPANS, dicts(label="labels", wrap=lambda x: [x]), strict=True
        )
    ]
    results.append({"type": "choices", "value": {"choices": ["news"]}})
    task = {
        "id": 7,
        "data": {"text": TEXT},
        "annotations": [
            {"result": [], "was_cancelled": True},
            {"result": results, "was_cancelled": False},
        ],
        "predictions": [],
    }
    return task | changes


FORMS = {
    "ours": {"text": TEXT, "entities": SPANS},
    "doccano": {"id": 1, "text": TEXT, "label": SPANS, "Comments": []},
    "doccano with relations": {
        "text": TEXT,
        "entities": dicts("start_offset", "end_offset"),
        "relations": [],
    },
    "spaCy's training data": [TEXT, {"entities": SPANS}],
    "spaCy's Doc.to_json": {"text": TEXT, "ents": dicts(), "tokens": []},
    "Prodigy": {"text": TEXT, "spans": dicts(), "answer": "accept"},
    "spaCy's Doc.to_json with groups": {
        **{"text": TEXT, "spans": {}, "entities": []},
        "ents": dicts(),
    },
    "spans and the text's classes": {
        **{"text": TEXT, "entities": None, "spans": dicts()},
        "labels": [{"name": "news"}],
    },
    "Label Studio": label_studio(),
    "Label Studio, short": {
        "text": TEXT,
        "label": dicts(label="labels", wrap=lambda name: [name]),
    },
    # What predict.py answers.
    "predict.py": {
        "words": WORDS,
        "spans": [[0, 4]],
        "entities": dicts(label="type"),
        "text": TEXT,
        "label": SPANS,
    },
}


Text = collections.namedtuple("Text", "where text places tags")


def read(folder, *records, name="train.jsonl", **options):
    path = folder / name
    text = "\n".join(map(json.dumps, records))
    if name.endswith(".json"):
        text = json.dumps([*records], indent=2)
    path.write_text(text, encoding="utf-8")
    rows = spans.read(path, **{"needs_spans": True} | options)
    return [Text(*row) for row in rows]


@pytest.mark.parametrize("name", ["train.jsonl", "train.json"])
@pytest.mark.parametrize("form", FORMS)
def test_forms(tmp_path, form, name):
    (found, again) = read(tmp_path, FORMS[form], FORMS[form], name=name)
    assert found.tags == TAGS
    words = [TEXT[start:end] for start, end in found.places]
    assert words == [*WORDS, "."]
    assert again.tags == TAGS
    assert again.where.endswith("line 2" if name[-1] == "l" else "entry 2")


def test_a_list_in_one_line(tmp_path):
    path = tmp_path / "export.json"
    path.write_text("\ufeff" + json.dumps([label_studio()]), encoding="utf-8")
    (found,) = spans.read(path, True)
    assert found[-1] == TAGS


def test_spans_that_cut_words_are_widened_and_counted(tmp_path, caplog):
    caplog.set_level("INFO")
    text = "the Franco-German border at \u6771\u4eac\u90fd ."
    spanned = [[11, 17, "X"], [16, 24, "Y"], [28, 30, "Z"]]
    (found,) = read(
        tmp_path, {"text": text, "entities": [*spanned[::2], [17, 25, "Y"]]}
    )
    words = [text[start:end] for start, end in found.places]
    assert words == [*text.split()[:4], *text[28:31], "."]
    assert found.tags == ["O", "B-X", "B-Y", "O", "B-Z", "I-Z", "O", "O"]
    (line,) = caplog.messages
    assert "1 of 3 spans to complete words" in line
    assert "'German' to [4, 17, 'X'] 'Franco-German'" in line


OWN = {"start": 25, "end": 29, "label": "LOC", "text": "Oslo"}


@pytest.mark.parametrize(
    ("record", "culprit"),
    [
        ({"entities": [[0, 4, "A"], [3, 9, "B"]]}, "overlap"),
        ({"spans": [OWN]}, "'Oslo'"),
        ({"entities": [[28, 30, "A"]]}, "30 of 29 characters"),
        ({"entities": [[4, 5, "A"]]}, "no word"),
        ({"entities": [["0", 4, "A"]]}, "start, end, label"),
        ({"spams": []}, "spams"),
        ({"text": 3, "label": []}, "`text`"),
    ],
)
def test_errors_name_line_and_text(tmp_path, record, culprit):
    with pytest.raises(ValueError, match=f"train.jsonl, line 2: .*{culprit}"):
        read(tmp_path, FORMS["ours"], {"text": TEXT, **record})


def test_a_mismatch_of_label_studio(tmp_path):
    # As JavaScript counts, an emoji is two.
    task = label_studio()
    value = task["annotations"][1]["result"][2]["value"]
    value |= {"start": 25, "end": 29}
    with pytest.raises(ValueError, match="entry 1.*'Oslo'"):
        read(tmp_path, task, name="train.json")
    # It changes white space.
    value |= {"start": 4, "end": 9, "text": "\\nleft"}
    (found,) = read(tmp_path, task, name="train.json")
    assert found.tags[1] == "B-LOC"


def test_what_nobody_annotated(tmp_path, caplog):
    caplog.set_level("INFO")
    records = [
        label_studio(),
        label_studio(annotations=[]),
        label_studio(annotations=label_studio()["annotations"][:1]),
        FORMS["Prodigy"] | {"answer": "reject"},
    ]
    (found,) = read(tmp_path, *records)
    assert found.tags == TAGS
    assert "3 of 4 texts were not annotated, or were rejec" in caplog.text
    rows = read(tmp_path, *records, {"text": TEXT}, needs_spans=False)
    # A test set is scored by what is annotated in it.
    assert "4 of 5 texts were not annotated" in caplog.text
    assert [set(row.tags) == {"O"} for row in rows] == [False, *[True] * 4]


def test_annotations_that_differ(tmp_path):
    task = label_studio()
    task["annotations"].append({"result": []})
    with pytest.raises(ValueError, match="2 annotations"):
        read(tmp_path, task)
    task["annotations"][-1]["ground_truth"] = True
    (found,) = read(tmp_path, task)
    assert {*found.tags} == {"O"}


@pytest.mark.parametrize(
    "content",
    [
        b'{"text": "a", "entities": []}\n{',
        b'{"text": "a", "entities": []}\n{"text": "\xff", "entities": []}',
        b'{"text": "a", "entities": []}\n3\n',
    ],
)
def test_damaged_files(tmp_path, content):
    path = tmp_path / "dev.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="dev.jsonl, line 2"):
        [*spans.read(path, True)]


def test_a_folder_of_sets(tmp_path):
    read(tmp_path, {"text": "", "label": []}, FORMS["doccano"])
    processor = reading.NerProcessor()
    labels = ["O", "B-LOC", "B-PER", "I-LOC", "I-PER"]
    assert processor.get_labels(tmp_path) == labels
    empty, example = processor.read_set(tmp_path, "train")
    assert (example.text, example.words) == (TEXT, [*WORDS, "."])
    windows.write_predictions(tmp_path, [empty], [[]])
    (line,) = (tmp_path / "predictions.jsonl").read_text().splitlines()
    assert json.loads(line)["text"] == ""
    packed = gzip.compress((tmp_path / "train.jsonl").read_bytes())
    (tmp_path / "dev.jsonl.gz").write_bytes(packed)
    _, again = processor.read_set(tmp_path, "dev")
    assert again.labels == example.labels
    # Another scheme, and texts without annotations to predict.
    read(tmp_path, {"text": TEXT}, name="test.jsonl", needs_spans=False)
    bilou = reading.NerProcessor(["O", "B-LOC", "L-LOC", "U-LOC", "U-PER"])
    _, example = bilou.read_set(tmp_path, "train")
    assert example.labels[2:4] == ["B-LOC", "L-LOC"]
    (example,) = bilou.read_set(tmp_path, "test")
    assert {*example.labels} == {"O"}
    with pytest.raises(ValueError, match="line 2: .*'B-PER'"):
        reading.NerProcessor(["O", "B-LOC", "I-LOC"]).read_set(
            tmp_path, "train"
        )
    with pytest.raises(ValueError, match="--text_column=1"):
        reading.NerProcessor(None, 1).read_set(tmp_path, "train")
    read(tmp_path, label_studio(annotations=[]))
    with pytest.raises(ValueError, match="train.jsonl"):
        processor.read_set(tmp_path, "train")


def test_our_own_answers_without_an_entity(tmp_path):
    answer = {"words": ["a"], "spans": [[0, 1]], "entities": [], "label": []}
    ((*_, tags),) = read(tmp_path, {"text": "a", **answer})
    assert tags == ["O"]


def test_places_that_count_line_ends_as_one_are_named(tmp_path):
    text = "Report\r\nfrom\r\nAnna Berg\r\nin Oslo\r\nabout Rio"
    found = [[12, 21, "PER"], [25, 29, "LOC"], [36, 39, "LOC"]]
    records = [{"text": text, "label": found}] * 3
    with pytest.raises(ValueError, match="CR LF"):
        read(tmp_path, *records)


@pytest.mark.parametrize("code, size", [("utf-16-le", 2), ("utf-8", 1)])
def test_places_that_count_other_units_are_named(tmp_path, code, size):
    marks = "\U0001f600\u017d\u010f\U0001f600\U0001f600"
    text = f"{marks} Anna left Oslo quickly, for reasons that she knew"

    def place(index):
        return len(text[:index].encode(code)) // size

    words = "Anna", "left", "Oslo", "quickly", "reasons"
    starts = [text.index(word) for word in words]
    found = [
        [place(i), place(i + len(word)), "X"]
        for i, word in zip(starts, words, strict=True)
    ]
    with pytest.raises(ValueError, match="offsets"):
        read(tmp_path, *({"text": text, "entities": [x]} for x in found))
    # Parts of words, in a text in which all units but characters differ.
    parts = [[i + 1, i + 3, "X"] for i in starts]
    records = [{"text": text, "entities": [x]} for x in parts]
    assert len(read(tmp_path, *records)) == 5


def test_classes_of_a_text_are_no_spans(tmp_path):
    record = {"text": TEXT, "entities": [], "labels": [{"name": "news"}]}
    ((*_, tags),) = read(tmp_path, record)
    assert {*tags} == {"O"}


def test_tags_of_words_are_no_types(tmp_path):
    def read_labels(*labels):
        found = [[0, 4, labels[0]], [5, 9, labels[1]]]
        return read(tmp_path, {"text": "Anna Berg", "entities": found})

    with pytest.raises(ValueError, match="B-PER"):
        read_labels("B-PER", "I-PER")
    assert len(read_labels("B-cell", "I-beam")) == 1
