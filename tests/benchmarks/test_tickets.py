"""Generated tickets, and the scripts that answer them."""

import statistics
import sys

import pytest

from benchmarks import tickets
from tests.support.paths import ROOT

# Copies the tickets of the file or files of a pattern, as their answers.
ANSWER = """
import glob, shutil, sys
for number, path in enumerate(sorted(glob.glob(sys.argv[1]))):
    shutil.copy(path, sys.argv[2].replace(".csv", f"-{number}.csv"))
"""


@pytest.fixture
def workload(tmp_path):
    """Settings of a contestant that answers 40 tickets."""
    return {
        "folder": str(tmp_path),
        "mrpc_dir": str(ROOT / "examples/samples/glue"),
        "num_texts": 40,
    }


def test_texts_have_3_to_300_words_and_half_of_them_less_than_30(workload):
    lengths = [
        len(text.split()) for text in tickets.create_texts(workload, 2000)
    ]
    assert min(lengths) >= 3
    assert max(lengths) <= 300
    assert statistics.median(lengths) == pytest.approx(30, abs=3)


def test_texts_are_the_same_in_each_process(workload):
    assert tickets.create_texts(workload, 5) == tickets.create_texts(
        workload, 5
    )


def test_the_answers_of_all_files_are_counted(tmp_path):
    tickets.write_tickets(tmp_path / "a.csv", ["one", "two\nlines"])
    tickets.write_tickets(tmp_path / "b.csv", ["three, with a comma"])
    assert tickets.count_rows(str(tmp_path)) == 3


def test_a_script_that_fails_ends_the_benchmark_with_its_command():
    command = [sys.executable, "-c", "import sys; sys.exit(3)"]
    with pytest.raises(SystemExit, match=r"status 3 of .*sys\.exit"):
        tickets.run_script(command)


@pytest.mark.parametrize(
    "in_parts", [False, True], ids=["one file", "several files"]
)
def test_a_script_answers_all_tickets(workload, in_parts):
    def create_command(path, pattern, output):
        source = pattern if in_parts else path
        return [sys.executable, "-c", ANSWER, source, output]

    work = tickets.create_tickets_work(workload, create_command)
    notes = work.repeat(1)
    assert work.num_sequences == 40
    assert notes["CPU s/1,000 texts"] > 0


def test_answers_that_are_missing_end_the_benchmark(workload):
    def answer_only_the_warmup(path, pattern, output):
        warmup = path.with_name("warmup.csv")
        return [sys.executable, "-c", ANSWER, warmup, output]

    work = tickets.create_tickets_work(workload, answer_only_the_warmup)
    with pytest.raises(RuntimeError, match="32 answers for 40 texts"):
        work.repeat(1)
