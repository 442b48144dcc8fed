"""Named entities: the sets that NerProcessor reads, features and decoding."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from data.io.split_names import SETS
from data.ner import entity_scoring, graph_tagging, word_splitting
from data.ner import sentence_windows as windows
from data.ner.ner_example import NerExample
from data.ner.ner_options import NerOptions
from data.ner.ner_processor import NerProcessor
from data.tables.data_file_options import DataFileOptions
from tests.support import golden

FILES = golden.ROOT / "tests/testdata/ner"
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
LABELS = ["O", "B-LOC", "B-PER", "I-PER"]


def create(folder, *labels, **options):
    """Creates the NerProcessor of a folder."""
    options = NerOptions(labels=labels or None, **options)
    return NerProcessor(folder, DataFileOptions(), options)


def read(folder, name, text, *labels, **columns):
    """Writes the file of a set, and returns its examples."""
    (folder / f"{name}.txt").write_bytes(text.encode())
    purpose = next(purpose for purpose in SETS if SETS[purpose] == name)
    return create(folder, *labels, **columns).read(purpose)


def test_sentences_documents_and_labels_are_read(tmp_path):
    examples = read(tmp_path, "train", TRAIN)
    assert create(tmp_path).labels() == LABELS
    assert [
        (example.guid, example.words, example.document) for example in examples
    ] == [
        ("train-1", ["ad", "b", "c"], 1),
        ("train-2", ["a"], 1),
        ("train-3", ["b"], 2),
    ]
    assert examples[0].labels == ["B-PER", "I-PER", "O"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_words_and_tags_of_each_public_layout(tmp_path, name):
    layout = LAYOUTS[name]
    (example,) = read(tmp_path, "dev", layout["text"], **layout["flags"])
    assert (example.words, example.labels) == (layout["words"], layout["tags"])


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
            for _, start, end in entity_scoring.find_entities(example.labels)
            for word in example.words[start:end]
        )
        for example in create(tmp_path).read("train")
    ]
    assert entities == PUBLIC[name]


@pytest.mark.parametrize(
    "name, culprit",
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
        create(tmp_path).read("train")


@pytest.mark.parametrize(
    "purpose, file, sentences, words, entities",
    [
        # The figures of the shared task's description.
        ("train", "train", 14041, 203621, 23499),
        ("eval", "valid", 3250, 51362, 5942),
        ("predict", "test", 3453, 46435, 5648),
    ],
)
def test_conll_2003_has_its_published_counts(
    purpose, file, sentences, words, entities
):
    path = golden.shared(f"data/conll2003/{file}.txt")
    examples = create(path.parent).read(purpose)
    assert len(examples) == sentences
    assert sum(len(example.words) for example in examples) == words
    entities_read = [
        entity_scoring.find_entities(example.labels) for example in examples
    ]
    assert sum(map(len, entities_read)) == entities
    # They are IOB2 already.
    lines = [line.split() for line in path.read_text().splitlines()]
    tags = [line[-1] for line in lines if line and line[0] != "-DOCSTART-"]
    assert [label for example in examples for label in example.labels] == tags


@pytest.mark.parametrize(
    "text, culprit",
    [
        ("a\nb\n", "a word and its tag"),
        ("a O\nb\n", "line 2: .* 1 columns"),
        ("a B-PER\nb O\nc PER\n", "line 3: .*'PER'"),
        ("word label\na O\nb PER\n", "line 1: .*'label'"),
        ("a\tO\n\tO\n", "line 2: the word"),
        # Numbers of words, and of sentences.
        ("1 a O\n2 b O\n\n1 c O\n", "--text_column"),
        ("s1 a O\ns1 b O\n\ns2 c O\n", "--text_column"),
        # GermEval's entities inside of entities.
        ("a B-A O\nb I-A B-A\n", "--label_column"),
        ("a O\n\nb I-PER\n", "line 3: .*'B-PER'"),
        ("-DOCSTART-\n\n", "a word and its tag"),
        # A corpus, a file or a speaker before each word.
        ("wsj a O\nwsj b B-PER\n\nwsj c O\n", "'wsj'"),
    ],
)
def test_bad_files_are_named(tmp_path, text, culprit):
    with pytest.raises(ValueError, match=f"dev.txt.*{culprit}"):
        read(tmp_path, "dev", text, "O", "B-LOC")


def test_a_column_that_is_not_there_and_two_files_of_a_set(tmp_path):
    for wrong in ({"text_column": 3}, {"label_column": 3}, {"text_column": 2}):
        with pytest.raises(ValueError, match="--text_column"):
            read(tmp_path, "dev", "a O\n", **wrong)
    # Words, lemmas and bare prefixes are no tags of a type.
    text = "1 B-52 B-52 B- O\n2 a I-52 B- O\n"
    (example,) = read(tmp_path, "dev", text, text_column=2)
    assert example.words == ["B-52", "a"]
    (example,) = read(tmp_path, "dev", "left B-DNA\nB-DNA I-DNA\n")
    assert example.words == ["left", "B-DNA"]
    # A test set may lack its tags.
    columns = {"a\nb\n": 3, "a NN\nb NN\n": 3, "a\nc\n": 1, "a1\nb2\n": None}
    for text, column in columns.items():
        (example,) = read(tmp_path, "test", text, label_column=column)
        assert example.labels == ["O", "O"]
    (tmp_path / "valid.txt").write_text("a O\n")
    with pytest.raises(ValueError, match=r"valid\.txt"):
        create(tmp_path).read("eval")


UNSEEN = "a B-LOC\nb I-LOC\n\na B-X\n"


def test_tags_that_training_has_not_seen_count_as_errors(
    tmp_path, tokenizer, caplog
):
    """The model cannot predict them."""
    labels = ["O", "B-LOC"]
    examples = read(tmp_path, "dev", UNSEEN, *labels)
    assert [example.labels for example in examples] == [
        ["B-LOC", "I-LOC"],
        ["B-X"],
    ]
    assert "dev.txt, line 1: unknown tag 'I-LOC'" in caplog.text
    assert "words tagged I-LOC, B-X count as errors" in caplog.text
    first, second = windows.create_features(examples, labels, 8, tokenizer)
    assert first.label_weights == [0, 1, 0, 0, 0, 0, 0, 0]
    assert second.label_weights == [0] * 8
    features = [first, second]
    logits = [np.eye(2)[[1] * 8]] * 2
    tags, _ = windows.choose_tags(examples, features, logits, labels, False)
    assert tags == [["B-LOC", "B-LOC"], ["B-LOC"]]


def test_an_unknown_tag_of_the_train_set_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="unknown tag 'I-LOC'"):
        read(tmp_path, "train", UNSEEN, "O", "B-LOC")


def test_what_cannot_be_learned_is_refused(tmp_path):
    (tmp_path / "train.txt").write_text("a O\n")
    with pytest.raises(ValueError, match="the only tag"):
        create(tmp_path).labels()
    with pytest.raises(ValueError, match="--labels"):
        create(tmp_path, "O")


def features_of(tmp_path, tokenizer, document_context):
    examples = read(tmp_path, "train", TRAIN)
    args = examples, LABELS, 8, tokenizer, document_context
    return [*windows.create_features(*args)]


def test_first_word_piece_has_the_label(tmp_path, tokenizer):
    first, *rest = features_of(tmp_path, tokenizer, False)
    assert len(rest) == 2
    assert first.tokens == ["[CLS]", "a", "##d", "b", "c", "[SEP]"]
    assert first.input_ids == [2, 4, 7, 5, 6, 3, 0, 0]
    assert first.input_mask == [1] * 6 + [0] * 2
    assert first.label_ids == [0, 2, 0, 3, 0, 0, 0, 0]
    assert first.label_weights == [0, 1, 0, 1, 1, 0, 0, 0]


def test_the_next_sentences_are_the_context(tmp_path, tokenizer):
    first, second = features_of(tmp_path, tokenizer, True)
    assert first.tokens == ["[CLS]", "a", "##d", "b", "c", "a", "[SEP]"]
    assert first.words == [(1, 0, 0), (3, 0, 1), (4, 0, 2), (5, 1, 0)]
    assert second.tokens == ["[CLS]", "b", "[SEP]"]


@pytest.mark.parametrize("document_context", [False, True])
@pytest.mark.parametrize("max_seq_length", [3, 4, 5, 7, 32])
def test_every_word_counts_once_and_is_decoded(
    tokenizer, max_seq_length, document_context
):
    rng = np.random.default_rng(max_seq_length)
    examples = []
    for i in range(10):
        words = rng.choice(["a", "bd", "cde", "\u200b"], rng.integers(1, 9))
        labels = rng.choice(LABELS, len(words)).tolist()
        examples.append(NerExample(f"g-{i}", words, labels, i // 3))
    args = (examples, LABELS, max_seq_length, tokenizer, document_context)
    features = list(windows.create_features(*args))
    counted = [word[1:] for feature in features for word in feature.words]
    assert len(counted) == len(set(counted))
    assert len(counted) == sum(len(example.words) for example in examples)
    for feature in features:
        assert len(feature.input_ids) == max_seq_length
        weights = np.zeros(max_seq_length)
        weights[[position for position, _, _ in feature.words]] = 1
        assert feature.label_weights == weights.tolist()
    # What is not counted must not matter.
    predicted = [
        np.eye(len(LABELS))[
            np.where(np.array(f.label_weights) > 0, f.label_ids, 1)
        ]
        for f in features
    ]
    tags, _ = windows.choose_tags(examples, features, predicted, LABELS, False)
    assert tags == [example.labels for example in examples]


def test_running_text_is_cut_as_in_the_graph():
    rng = random.Random(3)
    chars = "aB1'\"().,-$+<\xab\xa1\u3002\u2013\u2014\u2026\u2015\u6e2f\xe9"
    chars += " \t\n\xa0\u2028\u3000\x0b\x1c\x85\u200b"
    texts = [
        "".join(rng.choices(chars, k=rng.randint(0, 30))) for _ in range(3000)
    ]
    parted = graph_tagging.split_words(texts).numpy()
    for text, expected in zip(texts, parted, strict=True):
        assert word_splitting.split_words(text) == expected.decode().split()
