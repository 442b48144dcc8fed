"""A benchmark times what scripts do, and ends with its contestants."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import timing
from tests.support import fresh_process
from tests.support.paths import ROOT, SAMPLES
from tests.support.waiting import TIMEOUT, killed_late, wait_until


def test_masked_positions_are_spread_over_the_sequence():
    workload = {"seq_length": 9, "num_predictions": 3}
    assert timing.masked_positions(workload).tolist() == [0, 4, 8]


def test_batches_of_mrpc_are_sorted_by_length():
    batches = []
    workload = {
        "name": "classify_32",
        "batch_size": 3,
        "mrpc_dir": SAMPLES / "glue",
    }
    timing.create_mrpc_work(workload, batches.append).repeat(2)
    assert [len(batch) for batch in batches] == [3, 3]
    lengths = [len(text) for batch in batches for text in batch]
    assert lengths == sorted(lengths)


def test_pairs_of_mrpc_are_two_lists_of_sentences():
    batches = []
    workload = {"name": "pair", "batch_size": 2, "mrpc_dir": SAMPLES / "glue"}
    timing.create_mrpc_work(
        workload, lambda *pair: batches.append(pair)
    ).repeat(1)
    assert batches == [
        (
            [
                "There are 43 children at the school of Tolvane.",
                "In Skarn a captain paid the weavers for 97 blankets.",
            ],
            [
                "In Tolvane, 43 children learn at the school.",
                "The weavers of Skarn sold 97 blankets to a captain.",
            ],
        )
    ]


@pytest.fixture
def workload(tmp_path):
    """Settings of a contestant that tokenizes 20 lines."""
    lines = (SAMPLES / "corpus.txt").read_text().splitlines()[:20]
    (tmp_path / "corpus.txt").write_text("\n".join(lines))
    return {
        "work": "words",
        "variant": "FullTokenizer",
        "corpus": str(tmp_path / "corpus.txt"),
        "vocab_file": str(SAMPLES / "vocab.txt"),
        "num_steps": 1,
        "warmup_steps": 1,
        "device": "cpu",
    }


def test_a_contestant_times_each_repeat(workload, tmp_path):
    with contextlib.ExitStack() as stack:
        contestant = timing.Contestant("data", workload, str(tmp_path), stack)
        contestant.repeat()
        contestant.repeat()
    times = [measurement["seconds"] for measurement in contestant.measurements]
    assert len(times) == 2
    assert contestant.seconds() == pytest.approx(sum(times) / 2)
    assert contestant.ready["num_sequences"] > 0


def test_a_contestant_that_fails_shows_the_end_of_its_log(workload, tmp_path):
    workload["vocab_file"] = "no_vocab.txt"
    with (
        contextlib.ExitStack() as stack,
        pytest.raises(RuntimeError, match=r"no_vocab\.txt"),
    ):
        timing.Contestant("data", workload, str(tmp_path), stack)


@pytest.mark.slow
def test_an_export_is_timed(tmp_path):
    shutil.copy(SAMPLES / "vocab.txt", tmp_path)
    shutil.copy(SAMPLES / "bert_config.json", tmp_path / "config.json")
    result = fresh_process.run(
        "benchmarks/model_benchmark.py",
        "--rows=export_float32",
        "--repeats=1",
        f"--minilm_dir={tmp_path}",
        f"--mrpc_dir={SAMPLES}/glue",
    ).check()
    for engine in ("saved_model", "litert", "onnx"):
        assert f"| ours {engine}" in result.stdout


@pytest.mark.slow
def test_scripts_that_answer_many_texts_are_timed(tmp_path):
    shutil.copy(SAMPLES / "vocab.txt", tmp_path)
    config = json.loads((SAMPLES / "bert_config.json").read_text())
    config["max_position_embeddings"] = 512
    (tmp_path / "config.json").write_text(json.dumps(config))
    result = fresh_process.run(
        "benchmarks/model_benchmark.py",
        "--rows=bulk_int8",
        "--num_texts=40",
        f"--minilm_dir={tmp_path}",
        f"--mrpc_dir={SAMPLES}/glue",
    ).check()
    rows = [
        [cell.strip() for cell in line.split("|")[2:8]]
        for line in result.stdout.splitlines()
        if "| ours" in line
    ]
    names = [name for name, *_ in rows]
    assert names == ["ours litert", "ours litert --num_processes=2"]
    for _, seconds, per_second, memory, _, notes in rows:
        assert float(seconds) * float(per_second) == pytest.approx(40, rel=0.01)
        assert 0.02 < float(memory) < 4
        assert notes.startswith("CPU s/1,000 texts ")


def wait_for_contestant(process):
    """Returns the ids of a benchmark's processes, when it has started them."""
    for line in process.stderr:
        if line == "inference_1x16_float32\n":
            break
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    # A contestant, and the process that frees shared memory.
    wait_until(lambda: len(path.read_text().split()) >= 2)
    return path.read_text().split()


def read_commands(process_ids):
    """Returns the commands of the processes that still run."""
    paths = [Path(f"/proc/{number}/cmdline") for number in process_ids]
    return [path.read_bytes() for path in paths if path.exists()]


@pytest.mark.slow
def test_an_interrupted_benchmark_ends_with_its_contestants():
    command = [
        sys.executable,
        "benchmarks/model_benchmark.py",
        "--rows=inference_1x16_float32",
        "--bert_config_file=examples/samples/bert_config.json",
    ]
    with (
        subprocess.Popen(
            command, cwd=ROOT, stderr=subprocess.PIPE, text=True
        ) as process,
        killed_late(process),
    ):
        try:
            children = wait_for_contestant(process)
            process.send_signal(signal.SIGINT)
            _, rest = process.communicate(timeout=TIMEOUT)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in rest
    # The process that frees shared memory ends a moment after all others.
    assert b"spawn_main" not in b" ".join(read_commands(children))
