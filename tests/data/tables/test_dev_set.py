"""Splits of one table into a train set and a dev set: no row ever moves.

data/tables/dev_set.py chooses the rows, and data/tables/set_reader.py reads the
sets.
"""

import itertools
import json
import math
import random
from pathlib import Path

import pytest

from data.classification.classification_options import TableOptions
from data.classification.classification_reader import TABLE_USES
from data.ner.ner_options import NerOptions
from data.ner.ner_processor import NerProcessor
from data.tables.data_file_options import DataFileOptions
from data.tables.row_keys import key_of
from tests.support.csv_files import read_csv, write_csv
from tests.support.golden import GOLDEN_DIR
from tests.support.script_runner import SAMPLES

TOPICS = SAMPLES / "topics"
LABELS = ("boats", "farms", "inns")


@pytest.fixture(scope="module")
def sentences():
    """Sentences of a file of entities, as lines."""
    text = (SAMPLES / "entities/train.txt").read_text("utf-8")
    return [*filter(None, text.strip().split("\n\n"))]


def topics(name="train"):
    """Returns the texts and labels of a table."""
    rows = read_csv(TOPICS / f"{name}.csv")
    return [(row["text"], row["label"]) for row in rows]


def split(
    folder, rows, fraction=0.2, task="csv", names=("text", "label"), **flags
):
    """Returns the texts of the examples in the (train, dev) sets of rows."""
    path = folder / "table.csv"
    write_csv(path, names, rows)
    reader = TABLE_USES[task].create_processor(
        None,
        DataFileOptions(data_file=str(path), dev_fraction=fraction),
        TableOptions(**flags),
        frozenset(flags),
    )
    return tuple(
        [tuple(reader.texts_of(example)) for example in reader.read(name)]
        for name in ("train", "eval")
    )


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


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.2, 0.3, 0.5, 0.8])
def test_shares_are_those_of_a_fair_choice(tmp_path, sentences, fraction):
    for name in ("train", "dev", "test"):
        check_share(*split(tmp_path, topics(name), fraction), fraction)
    check_share(*split_sentences(tmp_path, sentences, fraction), fraction)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.2, 0.3, 0.5, 0.8])
def test_shares_of_support_tickets_are_those_of_a_fair_choice(
    tmp_path, fraction
):
    path = Path(GOLDEN_DIR or "absent", "../trials/tickets.csv")
    if not path.is_file():
        pytest.skip("needs tickets.csv beside BERT_GOLDEN_DIR")
    rows = [(row["message"], row["queue"]) for row in read_csv(path)]
    check_share(*split(tmp_path, rows, fraction), fraction)


def changes(rows):
    """Yields the rows with 100 of them appended, deleted, sorted, changed."""
    more = [(f"A new text of number {i}.", "boats") for i in range(100)]
    kept = random.Random(1).sample(rows, len(rows) - 100)
    others = [(text, random.Random(text).choice(LABELS)) for text, _ in rows]
    yield from ([*rows, *more], [*more, *rows], kept, sorted(rows), others)
    yield [(text.upper().replace(" ", "\u00a0"), label) for text, label in rows]


def test_no_row_moves_when_others_do(tmp_path):
    rows = topics()
    train, dev = map(set, split(tmp_path, rows))
    keys = {key_of(texts) for texts in dev}
    for changed in changes(rows):
        again = split(tmp_path, changed)
        assert not train & {*again[1]} and not dev & {*again[0]}
        old = {key_of([text]) for text, _ in rows}
        keys_in_both = {key_of(texts) for texts in again[1]} & old
        assert keys_in_both == keys & {key_of([text]) for text, _ in changed}


def test_no_sentence_moves_when_others_do(tmp_path, sentences):
    train, dev = map(set, split_sentences(tmp_path, sentences))
    more = [f"Ann B-PER\nhas O\n{i} O" for i in range(100)]
    untagged = [
        "\n".join(f"{line.split()[0]} B-X" for line in sentence.split("\n"))
        for sentence in sentences
    ]
    for changed in (
        [*more, *sentences],
        sentences[100:],
        sorted(sentences),
        [sentences[0], *untagged],
    ):
        again = split_sentences(tmp_path, changed)
        assert not train & {*again[1]} and not dev & {*again[0]}


def test_larger_fractions_contain_smaller_ones(tmp_path):
    sets = [
        {*split(tmp_path, topics(), fraction)[1]}
        for fraction in (0.1, 0.2, 0.21, 0.5, 0.9)
    ]
    for smaller, larger in itertools.pairwise(sets):
        assert smaller < larger or smaller == larger


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
    rows = topics()
    copies = [(change(text), label) for text, label in rows]
    train, dev = split(tmp_path, [*rows, *copies])
    check_share(train, dev, 0.2)


@pytest.mark.parametrize("order", [("train", "eval"), ("eval", "train")])
def test_copies_in_two_files_are_counted(tmp_path, caplog, order):
    rows = topics()
    for name, change in (("train", str), ("dev", str.upper)):
        changed = [(f"{change(text)} ", label) for text, label in rows[:99]]
        write_csv(tmp_path / f"{name}.csv", ("text", "label"), changed)
    reader = TABLE_USES["csv"].create_processor(
        str(tmp_path),
        DataFileOptions(),
        TableOptions(labels=sorted({label for _, label in rows})),
        frozenset(),
    )
    for purpose in order:
        reader.read(purpose)
    num = len({text for text, _ in rows[:99]})
    assert f"dev.csv: {num} texts are in the train set too" in caplog.text


def test_a_pair_and_its_reverse_share_a_set(tmp_path):
    names = ("text", "other", "label")
    texts = [text for text, _ in topics()]
    rows = [
        (text, other, LABELS[len(text) % 2])
        for text, other in itertools.pairwise(texts)
    ]
    rows += [(other, text, label) for text, other, label in rows]
    flags = {"text_b_column": "other"}
    train, dev = split(tmp_path, rows, names=names, **flags)
    check_share(train, dev, 0.2)


def test_a_query_is_in_one_set(tmp_path):
    names = ("query", "passage", "relevance")
    rows = [(f"Which {i // 4}?", f"p{i}", int(i % 4 == 0)) for i in range(400)]
    rows += [(f"which  {i}?", f"another {i}", 0) for i in range(100)]
    train, dev = split(tmp_path, rows, task="ranking", names=names)
    queries = [
        [(query,) for query, _ in rows_of_set] for rows_of_set in (train, dev)
    ]
    check_share(*queries, 0.2)


def test_a_document_is_in_one_set(tmp_path, sentences):
    documents = [
        ["-DOCSTART- O", *sentences[i : i + 3]]
        for i in range(0, len(sentences), 3)
    ]

    def read_documents(documents):
        lines = [line for document in documents for line in document]
        splits = split_sentences(tmp_path, lines, document_context=True)
        return [{*document} for document in splits]

    train, dev = read_documents(documents)
    for document in documents:
        words = {
            tuple(line.split()[0] for line in sentence.split("\n"))
            for sentence in document[1:]
        }
        assert words <= train or words <= dev
    # Its number does not matter.
    train, dev = read_documents(documents[:200])
    again = read_documents(documents[:200][::-1])
    assert [train, dev] == again


def test_labels_come_from_both_sets_and_missing_ones_are_named(
    tmp_path, caplog
):
    rows = topics()
    train, dev = split(tmp_path, rows)
    added = [(*train[0], "only trained")] * 5 + [(*dev[0], "only scored")]
    path = tmp_path / "table.csv"
    write_csv(path, ("text", "label"), rows + added)
    caplog.clear()
    reader = TABLE_USES["csv"].create_processor(
        None,
        DataFileOptions(data_file=str(path)),
        TableOptions(),
        frozenset(),
    )
    assert {"only trained", "only scored"} <= {*reader.labels()}
    (warning,) = [
        record.message
        for record in caplog.records
        if record.levelname == "WARNING"
    ]
    assert "the dev set has none of only trained" in warning
    assert "the train set has none of only scored" in warning
    assert "--data_dir" in warning


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
    assert "B-RARE" in reader.labels()
    assert "the train set has none of RARE" in caplog.text


@pytest.mark.parametrize("name", ["train", "dev"])
def test_a_set_without_rows_is_an_error(tmp_path, name):
    train, dev = split(tmp_path, topics())
    texts = train if name == "dev" else dev
    rows = [(*texts[0], "boats"), (*texts[0], "inns")]
    with pytest.raises(
        ValueError, match=f"none of the 2 rows is in the {name}"
    ):
        split(tmp_path, rows)
