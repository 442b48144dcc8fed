"""The benchmark chooses what to time, and prints a table."""

import types

import pytest
from absl import flags as absl_flags

from benchmarks import model_benchmark
from benchmarks.rows import Row

ROW = Row(
    name="boats",
    work="sail",
    variants={
        "ours": {"float32": ["saved_model", "litert"], "int8": ["litert"]},
        "transformers": {"float32": [""]},
    },
    batch_size=2,
    seq_length=8,
    num_steps=10,
    repeats=3,
    needs=("corpus",),
)


@pytest.fixture
def set_flags(monkeypatch):
    """(*arguments) -> sets the flags of the benchmark, and lists only ROW."""
    values = absl_flags.FlagValues()
    model_benchmark.define_flags(values)
    monkeypatch.setattr(model_benchmark, "FLAGS", values)
    monkeypatch.setattr(model_benchmark, "ROWS", [ROW])
    return lambda *arguments: values(["model_benchmark.py", *arguments])


def test_a_row_is_timed_in_each_precision(set_flags):
    set_flags("--corpus=c.txt")
    assert [*model_benchmark.choose_rows()] == [(ROW, "float32"), (ROW, "int8")]


def test_a_pattern_chooses_rows_by_name_and_precision(set_flags):
    set_flags("--corpus=c.txt", "--rows=mrpc,*_int8")
    assert [*model_benchmark.choose_rows()] == [(ROW, "int8")]


def test_a_row_without_its_files_is_named_and_not_timed(set_flags, capsys):
    set_flags("--rows=boats_int8")
    assert [*model_benchmark.choose_rows()] == []
    assert capsys.readouterr().out == "boats_int8 needs --corpus: not timed\n"


def test_a_gpu_times_no_row_of_texts(set_flags):
    set_flags("--corpus=c.txt", "--device=cuda")
    assert [*model_benchmark.choose_rows()] == []


def test_each_variant_of_an_installed_library_is_a_contestant(set_flags):
    set_flags("--corpus=c.txt")
    contestants = [
        (name, workload["variant"])
        for name, workload in model_benchmark.create_workloads(
            ROW, "float32", set()
        )
    ]
    assert contestants == [
        ("ours", "saved_model"),
        ("ours", "litert"),
        ("transformers", ""),
    ]


def test_a_library_that_is_missing_is_left_out_of_the_contest(set_flags):
    set_flags("--corpus=c.txt")
    workloads = model_benchmark.create_workloads(
        ROW, "float32", {"transformers"}
    )
    assert [name for name, _ in workloads] == ["ours", "ours"]


def create_contestant(name, seconds):
    """Returns a contestant whose repeats all take the same time."""
    return types.SimpleNamespace(
        name=name,
        workload={"precision": "float32", "variant": "litert"},
        ready={"num_sequences": 20, "versions": {"torch": "2.0"}},
        measurements=[{"peak_memory_gib": 1.5, "notes": {"CPU s": "3.00"}}],
        seconds=lambda: seconds,
        repeat=lambda: None,
    )


def test_the_ratio_is_that_of_the_fastest_peer(set_flags):
    set_flags("--repeats=1")
    contestants = [
        create_contestant("ours", 2.0),
        create_contestant("transformers", 6.0),
        create_contestant("keras_hub", 5.0),
    ]
    ours, slow_peer, fast_peer = model_benchmark.time_row(ROW, contestants)
    assert ours == {
        "row": "boats_float32",
        "contestant": "ours litert",
        # Of one of the ten steps.
        "seconds": "0.2",
        "seq/s": "10",
        "GiB": "1.50",
        "ratio": "2.50",
        "notes": "CPU s 3.00, torch 2.0",
    }
    assert (slow_peer["ratio"], fast_peer["ratio"]) == ("0.83", "1.00")


def test_without_a_peer_there_is_no_ratio(set_flags):
    set_flags("--repeats=1")
    (result,) = model_benchmark.time_row(ROW, [create_contestant("ours", 2.0)])
    assert result["ratio"] == ""


def test_results_are_printed_as_an_aligned_table(capsys):
    results = [{"row": "boats", "ratio": "2.50"}, {"row": "a", "ratio": ""}]
    model_benchmark.print_results(results)
    assert capsys.readouterr().out.splitlines() == [
        "| row   | ratio |",
        "| ----- | ----- |",
        "| boats | 2.50  |",
        "| a     |       |",
    ]
