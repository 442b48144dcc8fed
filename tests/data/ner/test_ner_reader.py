"""The sets of named entities of a folder."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from data.ner import entity_scoring
from data.ner import sentence_windows as windows
from data.ner.ner_options import NerOptions
from data.ner.ner_reader import NerReader
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import FileSets
from tests.support import golden
from tests.support.log_lines import logged_warnings
from tests.support.paths import ROOT

FILES = ROOT / "tests/testdata/ner"


# {what the file shows: its text, the flags to read it, and its sentence}.
LAYOUTS = json.loads((FILES / "layouts.json").read_bytes())


TRAIN = """-DOCSTART- -X- -X- O

ad NN B-NP B-PER
b NN I-NP I-PER
c NN O O

a NN O B-LOC
-DOCSTART- -X- -X- O
b NN O O
"""


def create_sets(folder, *labels, **options):
    """Creates the sets of a folder."""
    options = NerOptions(labels=labels or None, **options)
    return FileSets(NerReader(options), folder, DataFileOptions())


def read_set(folder, name, text, *labels, **columns):
    """Writes the file of a set, and returns its examples."""
    (folder / f"{name}.txt").write_bytes(text.encode())
    return create_sets(folder, *labels, **columns).read(name)


def test_the_labels_are_those_of_the_train_set(tmp_path):
    (tmp_path / "train.txt").write_text(TRAIN)
    assert create_sets(tmp_path).read_labels() == [
        "O",
        "B-LOC",
        "B-PER",
        "I-PER",
    ]


def test_sentences_and_documents_are_read(tmp_path):
    examples = read_set(tmp_path, "train", TRAIN)
    assert [
        (example.guid, example.words, example.document_index)
        for example in examples
    ] == [
        ("train-1", ["ad", "b", "c"], 1),
        ("train-2", ["a"], 1),
        ("train-3", ["b"], 2),
    ]
    assert examples[0].tags == ["B-PER", "I-PER", "O"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_words_and_tags_of_each_public_layout(tmp_path, name):
    layout = LAYOUTS[name]
    labels = sorted({"O", "B-PER", *layout["tags"]})
    (example,) = read_set(
        tmp_path, "dev", layout["text"], *labels, **layout["flags"]
    )
    assert (example.words, example.tags) == (layout["words"], layout["tags"])


# Entities of files of public corpora and tools, in one string for each text.
PLAIN = ["Anna Oslo", "Berg", "Rio de Janeiro", "Peter Hansen"]


PUBLIC = {
    "answers.jsonl": ["Anna Oslo", ""],
    "few_nerd.txt": PLAIN,
    "klue.txt": [" ".join(text.replace(" Oslo", "Oslo")) for text in PLAIN],
    "pan_x.txt": PLAIN,
    "tokens_and_tags.json": PLAIN,
    # Of this project, as its model answered.
    "predictions.jsonl": [
        "Oslo",
        "The of Berg .",
        "de Janeiro is big .",
        "Hansen .",
    ],
}


@pytest.mark.parametrize("name", PUBLIC)
def test_files_of_public_corpora_and_tools_are_read(tmp_path, name):
    """Types without B- and I-, a language before each word, KLUE's comments."""
    shutil.copy(FILES / name, tmp_path / f"train{Path(name).suffix}")
    entities = [
        " ".join(
            word
            for _, start, end in entity_scoring.list_entities(example.tags)
            for word in example.words[start:end]
        )
        for example in create_sets(tmp_path).read("train")
    ]
    assert entities == PUBLIC[name]


@pytest.mark.parametrize(
    ("name", "culprit"),
    [
        ("beyond_the_text.json", "entry 1: .*of 14 characters"),
        ("byte_offsets.jsonl", "line 1: .*'slo '.*5 of 5 spans"),
        ("cr_lf_as_one.jsonl", "line 1: .*9 of 9 spans"),
        ("utf_16_offsets.jsonl", "line 1: .*'a le'.*5 of 5 spans"),
        ("parts_of_words.jsonl", "line 1: .*'nn'.*5 of 5 spans"),
        ("latin1.txt", "line 1: .*iconv"),
        # Chinese words with the number of a character.
        ("weibo.txt", "digit"),
        # The keys that are not known.
        ("dataturks.json", "line 1: .*content, annotation, extras"),
        ("ner_annotator.json", "line 1: .*classes, annotations"),
    ],
)
def test_public_files_that_are_not_read_are_named(tmp_path, name, culprit):
    shutil.copy(FILES / name, tmp_path / f"train{Path(name).suffix}")
    with pytest.raises(ValueError, match=culprit):
        create_sets(tmp_path).read("train")


@pytest.mark.parametrize(
    ("set_name", "file", "sentences", "words", "entities"),
    [
        # The numbers of the shared task's description.
        ("train", "train", 14041, 203621, 23499),
        ("dev", "valid", 3250, 51362, 5942),
        ("test", "test", 3453, 46435, 5648),
    ],
)
def test_conll_2003_has_its_published_counts(
    set_name, file, sentences, words, entities
):
    path = golden.shared_path(f"data/conll2003/{file}.txt")
    examples = create_sets(path.parent).read(set_name)
    assert len(examples) == sentences
    assert sum(len(example.words) for example in examples) == words
    entities_read = [
        entity_scoring.list_entities(example.tags) for example in examples
    ]
    assert sum(map(len, entities_read)) == entities


@pytest.mark.parametrize(
    ("set_name", "file"),
    [("train", "train"), ("dev", "valid"), ("test", "test")],
)
def test_tags_of_conll_2003_stay_as_they_are(set_name, file):
    """The tags of these files are IOB2 already."""
    path = golden.shared_path(f"data/conll2003/{file}.txt")
    examples = create_sets(path.parent).read(set_name)
    lines = [line.split() for line in path.read_text().splitlines()]
    tags = [line[-1] for line in lines if line and line[0] != "-DOCSTART-"]
    assert [label for example in examples for label in example.tags] == tags


def test_a_malformed_file_of_tags_is_named_with_its_line(tmp_path):
    with pytest.raises(ValueError, match=r"dev\.txt, line 2: the word"):
        read_set(tmp_path, "dev", "a\tO\n\tO\n", "O", "B-LOC")


def test_a_dev_set_that_has_no_tag_of_the_labels_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"dev\.txt, line 3: .*'B-PER'"):
        read_set(tmp_path, "dev", "a O\n\nb I-PER\n", "O", "B-LOC")


def test_two_files_of_a_set_are_an_error(tmp_path):
    (tmp_path / "train.txt").write_text("a B-PER\nb O\n")
    (tmp_path / "dev.txt").write_text("a O\n")
    (tmp_path / "valid.txt").write_text("a O\n")
    with pytest.raises(ValueError, match=r"only one .*valid\.txt and"):
        create_sets(tmp_path).read("dev")


UNSEEN = "a B-LOC\nb I-LOC\n\na B-X\n"


@pytest.fixture
def unseen_examples(tmp_path):
    """The sentences of a dev set with tags that the labels lack."""
    return read_set(tmp_path, "dev", UNSEEN, "O", "B-LOC")


def test_tags_that_training_has_not_seen_are_kept(unseen_examples):
    assert [example.tags for example in unseen_examples] == [
        ["B-LOC", "I-LOC"],
        ["B-X"],
    ]


def test_tags_that_training_has_not_seen_are_warned_of(tmp_path, caplog):
    read_set(tmp_path, "dev", UNSEEN, "O", "B-LOC")
    (warning,) = logged_warnings(caplog)
    assert "dev.txt, line 1" in warning
    assert "I-LOC, B-X" in warning


def test_tags_that_training_has_not_seen_count_as_errors(
    unseen_examples, tokenizer
):
    """The model cannot predict them."""
    labels = ["O", "B-LOC"]
    args = unseen_examples, labels, 8, tokenizer
    first, second = windows.create_ner_features(*args)
    assert first.label_weights == [0, 1, 0, 0, 0, 0, 0, 0]
    assert second.label_weights == [0] * 8
    features = [first, second]
    logits = [np.eye(2)[[1] * 8]] * 2
    tags, _ = windows.choose_tags(
        unseen_examples, features, logits, labels, False
    )
    assert tags == [["B-LOC", "B-LOC"], ["B-LOC"]]


def test_tags_of_a_dev_set_are_compared_with_the_train_set(tmp_path, caplog):
    """Nobody has to call `read_labels` before."""
    (tmp_path / "train.txt").write_text("a B-LOC\nb O\n\nc O\n")
    read_set(tmp_path, "dev", UNSEEN)
    (warning,) = logged_warnings(caplog)
    assert "I-LOC, B-X" in warning


def test_an_unknown_tag_of_the_train_set_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="unknown tag 'I-LOC'"):
        read_set(tmp_path, "train", UNSEEN, "O", "B-LOC")


def test_a_train_set_of_one_tag_is_refused(tmp_path):
    (tmp_path / "train.txt").write_text("a O\n")
    with pytest.raises(ValueError, match="the only tag"):
        create_sets(tmp_path).read_labels()


def test_a_flag_that_names_one_tag_is_refused(tmp_path):
    with pytest.raises(ValueError, match="--labels must name 2 labels or more"):
        create_sets(tmp_path, "O")
