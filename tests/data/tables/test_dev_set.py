"""Splits of one table into a train set and a dev set: no row ever moves.

data/tables/dev_set.py chooses the rows.
"""

import collections
import itertools
import json
import math
import random
from pathlib import Path

import pytest

from data.ner.ner_options import NerOptions
from data.ner.ner_processor import NerProcessor
from data.tables.data_file_options import DataFileOptions
from data.tables.dev_set import log_labels, split_examples
from data.tables.row_keys import key_of
from tests.support.golden import GOLDEN_DIR
from tests.support.script_runner import SAMPLES
from tests.support.tables.csv_files import read_csv
from tests.support.tables.split_tables import read_topics, split_rows

LABELS = ("boats", "farms", "inns")


@pytest.fixture(scope="module")
def sentences():
    """Sentences of a file of entities, as lines."""
    text = (SAMPLES / "entities/train.txt").read_text("utf-8")
    return [*filter(None, text.strip().split("\n\n"))]


def split_sentences(folder, sentences, fraction=0.2, **flags):
    """Returns the words of the sentences in the (train, dev) sets."""
    path = folder / "names.txt"
    path.write_text("\n\n".join(sentences) + "\n", "utf-8")
    data = DataFileOptions(data_file=str(path), dev_fraction=fraction)
    reader = NerProcessor(None, data, NerOptions(**flags))
    return tuple(
        [tuple(example.words) for example in reader.read(name)]
        for name in ("train", "eval")
    )


def check_share(train, dev, fraction):
    """Checks the share of different keys against a fair choice of each."""
    keys = [
        {key_of(texts) for texts in texts_of_set}
        for texts_of_set in (train, dev)
    ]
    assert not keys[0] & keys[1]
    num = len(keys[0] | keys[1])
    deviation = math.sqrt(num * fraction * (1 - fraction))
    assert abs(len(keys[1]) - num * fraction) <= 3 * deviation


FRACTIONS = pytest.mark.parametrize("fraction", [0.05, 0.1, 0.2, 0.3, 0.5, 0.8])


@FRACTIONS
@pytest.mark.parametrize("name", ["train", "dev", "test"])
def test_shares_are_those_of_a_fair_choice(tmp_path, name, fraction):
    check_share(*split_rows(tmp_path, read_topics(name), fraction), fraction)


@FRACTIONS
def test_shares_of_sentences_are_those_of_a_fair_choice(
    tmp_path, sentences, fraction
):
    check_share(*split_sentences(tmp_path, sentences, fraction), fraction)


@FRACTIONS
def test_shares_of_support_tickets_are_those_of_a_fair_choice(
    tmp_path, fraction
):
    path = Path(GOLDEN_DIR or "absent", "../trials/tickets.csv")
    if not path.is_file():
        pytest.skip("needs tickets.csv beside BERT_GOLDEN_DIR")
    rows = [(row["message"], row["queue"]) for row in read_csv(path)]
    check_share(*split_rows(tmp_path, rows, fraction), fraction)


def more_rows():
    """Returns 100 new rows."""
    return [(f"A new text of number {i}.", "boats") for i in range(100)]


def with_other_labels(rows):
    """Returns the rows with random labels."""
    return [(text, random.Random(text).choice(LABELS)) for text, _ in rows]


def with_other_spellings(rows):
    """Returns the rows in capitals, with other spaces."""
    return [
        (text.upper().replace(" ", "\u00a0"), label) for text, label in rows
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: [*rows, *more_rows()],
        lambda rows: [*more_rows(), *rows],
        lambda rows: random.Random(1).sample(rows, len(rows) - 100),
        sorted,
        with_other_labels,
        with_other_spellings,
    ],
    ids=["appended", "put before", "deleted", "sorted", "labels", "spellings"],
)
def test_no_row_moves_when_others_do(tmp_path, change):
    rows = read_topics()
    train, dev = map(set, split_rows(tmp_path, rows))
    changed = change(rows)
    again = split_rows(tmp_path, changed)
    assert not train & {*again[1]}
    assert not dev & {*again[0]}
    old = {key_of([text]) for text, _ in rows}
    keys_in_both = {key_of(texts) for texts in again[1]} & old
    keys = {key_of(texts) for texts in dev}
    assert keys_in_both == keys & {key_of([text]) for text, _ in changed}


def untagged(sentences):
    """Returns sentences whose words all have another tag, but the first's."""
    others = [
        "\n".join(f"{line.split()[0]} B-X" for line in sentence.split("\n"))
        for sentence in sentences
    ]
    return [sentences[0], *others]


@pytest.mark.parametrize(
    "change",
    [
        lambda sentences: [
            *(f"Ann B-PER\nhas O\n{i} O" for i in range(100)),
            *sentences,
        ],
        lambda sentences: sentences[100:],
        sorted,
        untagged,
    ],
    ids=["put before", "deleted", "sorted", "tags"],
)
def test_no_sentence_moves_when_others_do(tmp_path, sentences, change):
    train, dev = map(set, split_sentences(tmp_path, sentences))
    again = split_sentences(tmp_path, change(sentences))
    assert not train & {*again[1]}
    assert not dev & {*again[0]}


@pytest.mark.parametrize(
    ("smaller", "larger"), [(0.1, 0.2), (0.2, 0.21), (0.21, 0.5), (0.5, 0.9)]
)
def test_larger_fractions_contain_smaller_ones(tmp_path, smaller, larger):
    _, dev = split_rows(tmp_path, read_topics(), smaller)
    _, larger_dev = split_rows(tmp_path, read_topics(), larger)
    assert {*dev} <= {*larger_dev}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(" ", "  ", 1),
        lambda text: f" {text}",
        str.upper,
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: text.replace("a", "a\u200b"),
        lambda text: text.replace("é", "e\u0301"),
        lambda text: text.replace("é", "e"),
    ],
    ids=[
        "two spaces",
        "a space before",
        "capitals",
        "other spaces",
        "a space of no width",
        "a combined accent",
        "no accent",
    ],
)
def test_copies_that_look_alike_share_a_set(tmp_path, change):
    rows = read_topics()
    copies = [(change(text), label) for text, label in rows]
    train, dev = split_rows(tmp_path, [*rows, *copies])
    check_share(train, dev, 0.2)


def test_a_pair_and_its_reverse_share_a_set(tmp_path):
    names = ("text", "other", "label")
    texts = [text for text, _ in read_topics()]
    rows = [
        (text, other, LABELS[len(text) % 2])
        for text, other in itertools.pairwise(texts)
    ]
    rows += [(other, text, label) for text, other, label in rows]
    flags = {"text_b_column": "other"}
    train, dev = split_rows(tmp_path, rows, names=names, **flags)
    check_share(train, dev, 0.2)


def test_a_query_is_in_one_set(tmp_path):
    names = ("query", "passage", "relevance")
    rows = [(f"Which {i // 4}?", f"p{i}", int(i % 4 == 0)) for i in range(400)]
    rows += [(f"which  {i}?", f"another {i}", 0) for i in range(100)]
    train, dev = split_rows(tmp_path, rows, task="ranking", names=names)
    queries = [
        [(query,) for query, _ in rows_of_set] for rows_of_set in (train, dev)
    ]
    check_share(*queries, 0.2)


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
    words_of_documents = [
        {
            tuple(line.split()[0] for line in sentence.split("\n"))
            for sentence in document[1:]
        }
        for document in documents
    ]
    assert all(words <= train or words <= dev for words in words_of_documents)


def test_the_number_of_a_document_does_not_matter(tmp_path, documents):
    one = split_documents(tmp_path, documents[:200])
    assert split_documents(tmp_path, documents[:200][::-1]) == one


def test_tags_come_from_both_sets(tmp_path, caplog, sentences):
    _, dev = split_sentences(tmp_path, sentences)
    path = tmp_path / "names.jsonl"
    entries = [
        {"text": " ".join(words), "label": [[0, len(words[0]), "RARE"]]}
        if words == dev[0]
        else {"text": " ".join(words), "label": [[0, len(words[0]), "PER"]]}
        for words in {
            tuple(line.split()[0] for line in sentence.split("\n"))
            for sentence in sentences
        }
    ]
    path.write_text("\n".join(map(json.dumps, entries)), "utf-8")
    reader = NerProcessor(
        None, DataFileOptions(data_file=str(path)), NerOptions()
    )
    assert "B-RARE" in reader.find_labels()
    assert "the train set has none of RARE" in caplog.text


@pytest.mark.parametrize("name", ["train", "dev"])
def test_a_set_without_rows_is_an_error(tmp_path, name):
    train, dev = split_rows(tmp_path, read_topics())
    texts = train if name == "dev" else dev
    rows = [(*texts[0], "boats"), (*texts[0], "inns")]
    with pytest.raises(
        ValueError, match=f"none of the 2 rows is in the {name}"
    ):
        split_rows(tmp_path, rows)


def test_split_examples_holds_out_the_same_keys_whatever_their_order():
    keys = [f"key {number}" for number in range(20)]
    train, dev = split_examples("a.csv", keys, keys, 0.5)
    assert sorted(train + dev) == sorted(keys)
    assert split_examples("a.csv", keys[::-1], keys[::-1], 0.5) == (
        train[::-1],
        dev[::-1],
    )


def test_split_examples_refuses_an_empty_set():
    with pytest.raises(
        ValueError, match=r"none of the 1 rows is in the \w+ set"
    ):
        split_examples("a.csv", ["row"], ["key"], 0.5)


def test_log_labels_counts_both_sets(caplog):
    caplog.set_level("INFO")
    both = collections.Counter(yes=2, no=1)
    log_labels("a.csv", both, both)
    assert "no 1 + 1, yes 2 + 2" in caplog.text
    assert "has none of" not in caplog.text


def test_log_labels_warns_of_labels_that_a_set_lacks(caplog):
    train = collections.Counter(yes=2)
    dev = collections.Counter(no=1)
    log_labels("a.csv", train, dev)
    assert (
        "a.csv: the dev set has none of yes, and the train set has none of no."
    ) in caplog.text
