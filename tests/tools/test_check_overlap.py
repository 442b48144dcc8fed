"""Rows of evaluation files that training files contain."""

import json

from tests import script_runner

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
    (tmp_path / "bad.jsonl").write_text("no json")
    done = script_runner.run(
        "tools.check_overlap",
        tmp_path,
        input_file="bad.jsonl",
        eval_file="dev.tsv",
    )
    assert "bad.jsonl, line 1 is not valid JSON" in done.error
