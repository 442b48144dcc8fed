"""Rows of evaluation files that training files contain."""

import json

import pytest

from tests import script_runner
from tools import check_overlap

TEXT = "one two three four five six seven eight nine ten eleven twelve more"


def test_rows_texts_and_word_sequences_are_found(tmp_path):
    (tmp_path / "dev.tsv").write_text(
        "first\tsecond\tscore\n"
        "A boat left.\tThe boat is gone!\t0.5\n"
        "a cat sat down\tthe cat was tired\t1.0\n"
        f"{TEXT} or less\ta text that is its own\t2.0\n"
        "nothing of this is anywhere\tnor is this text\t3.0\n"
    )
    rows = [
        {"a": "the boat is gone", "b": "a boat LEFT", "score": 1},
        {"a": "A cat sat down.", "b": "a dog stood up", "score": 2},
    ]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "corpus.txt").write_text(f"\nIt said: {TEXT}.\nthe end\n")
    done = script_runner.run(
        "tools.check_overlap",
        tmp_path,
        input_file="train.jsonl,corpus.txt",
        eval_file="dev.tsv",
    ).check()
    assert done.stdout.splitlines() == [
        "dev.tsv: 4 rows, compared with train.jsonl",
        "  the same row: 1 (25.0%)",
        "    line 2 in line 1: a boat left",
        "  a row with one of the texts: 2 (50.0%)",
        "    line 2 in line 1: a boat left",
        "    line 3 in line 2: a cat sat down",
        "  13 words in a row: 0 (0.0%)",
        "dev.tsv: 4 rows, compared with corpus.txt",
        "  the same row: 0 (0.0%)",
        "  a row with one of the texts: 0 (0.0%)",
        "  13 words in a row: 1 (25.0%)",
        "    line 4 in line 2: one two three four five six seven eight nine "
        "ten eleven twelve",
    ]


def texts(path):
    return [
        (number, [" ".join(words) for words in found])
        for number, found in check_overlap.read_rows(str(path))
    ]


def test_tables_are_read_as_a_training_reads_them(tmp_path):
    path = tmp_path / "a.csv"
    # A cell of several lines, and one longer than Python's csv takes.
    path.write_text('label;text\n1;"one two\nthree four"\n2;' + "word " * 30000)
    (first, second) = texts(path)
    assert first == (2, ["one two three four"])
    assert second[0] == 4 and len(second[1][0].split()) == 30000
    path = tmp_path / "a.jsonl"
    path.write_text('\n{"id": 1, "text": "One, two, three!"}\n')
    assert texts(path) == [(2, ["one two three"])]
    path.write_text("no json")
    with pytest.raises(ValueError, match="a.jsonl, line 1: .* not valid JSON"):
        texts(path)
    (tmp_path / "a.tsv").write_text('a "b c d\te\n')
    assert texts(tmp_path / "a.tsv") == [(1, ["a b c d"])]
