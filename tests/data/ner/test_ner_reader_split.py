"""One file of tagged sentences becomes a train set and a dev set."""

import json

import pytest

from data.ner.ner_options import NerOptions
from data.ner.ner_reader import NerReader
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import FileSets
from tests.support.log_lines import logged_warnings
from tests.support.paths import SAMPLES


@pytest.fixture(scope="module")
def sentences():
    """Sentences of a file of entities, as lines."""
    text = (SAMPLES / "entities/train.txt").read_text("utf-8")
    return [*filter(None, text.strip().split("\n\n"))]


def split_sentences(folder, sentences, **flags):
    """Returns the words of the sentences in the (train, dev) sets."""
    path = folder / "names.txt"
    path.write_text("\n\n".join(sentences) + "\n", "utf-8")
    data = DataFileOptions(data_file=str(path), dev_fraction=0.2)
    ner_sets = FileSets(NerReader(NerOptions(**flags)), None, data)
    return tuple(
        [tuple(example.words) for example in ner_sets.read(name)]
        for name in ("train", "dev")
    )


def words_of(sentence):
    """Returns the words of a sentence, which is given as lines."""
    return tuple(line.split()[0] for line in sentence.split("\n"))


def test_the_tags_do_not_move_a_sentence(tmp_path, sentences):
    first, *others = sentences
    retagged = [
        "\n".join(f"{word} B-X" for word in words_of(sentence))
        for sentence in others
    ]
    split = split_sentences(tmp_path, sentences)
    assert split_sentences(tmp_path, [first, *retagged]) == split


def test_no_sentence_moves_when_others_are_put_before(tmp_path, sentences):
    train, dev = split_sentences(tmp_path, sentences)
    others = [f"Ann B-PER\nhas O\n{i} O" for i in range(100)]
    new_train, new_dev = split_sentences(tmp_path, [*others, *sentences])
    assert {*train} <= {*new_train}
    assert {*dev} <= {*new_dev}


@pytest.fixture
def documents(sentences):
    """Documents of three sentences, as lines."""
    return [
        ["-DOCSTART- O", *sentences[i : i + 3]]
        for i in range(0, len(sentences), 3)
    ]


def split_documents(folder, documents):
    """Returns the words of the sentences in the (train, dev) sets."""
    lines = [line for document in documents for line in document]
    splits = split_sentences(folder, lines, document_context=True)
    return [{*words} for words in splits]


def test_a_document_is_in_one_set(tmp_path, documents):
    train, dev = split_documents(tmp_path, documents)
    for document in documents:
        words = {*map(words_of, document[1:])}
        assert words <= train or words <= dev


def test_the_order_of_documents_moves_no_document_to_the_other_set(
    tmp_path, documents
):
    one = split_documents(tmp_path, documents[:200])
    assert split_documents(tmp_path, documents[:200][::-1]) == one


def test_the_labels_are_the_tags_of_the_train_set_and_the_dev_set(
    tmp_path, caplog, sentences
):
    _, dev = split_sentences(tmp_path, sentences)
    path = tmp_path / "names.jsonl"
    entries = []
    for words in dict.fromkeys(map(words_of, sentences)):
        label = "RARE" if words == dev[0] else "PER"
        span = [0, len(words[0]), label]
        entries.append({"text": " ".join(words), "label": [span]})
    path.write_text("\n".join(map(json.dumps, entries)), "utf-8")
    data = DataFileOptions(data_file=str(path))
    ner_sets = FileSets(NerReader(NerOptions()), None, data)
    assert "B-RARE" in ner_sets.read_labels()
    (warning,) = logged_warnings(caplog)
    assert "RARE" in warning
