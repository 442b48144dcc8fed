"""create_pretraining_data.py against recordings, and when it is killed."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from data.io import feature_specs, record_checks, record_datasets, tfrecords
from tests.support import (
    golden,
    script_runner,
    shards,
    waiting,
)
from tests.support.output_files import snapshot
from tests.support.paths import ROOT
from tests.support.waiting import killed_late

SCRIPT = ROOT / "create_pretraining_data.py"
CORPUS = ROOT / "tests/testdata/golden/pretraining_data/corpus"
VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"


def run_script(cwd, *arguments, **flags):
    """Runs the script in the folder `cwd`, and returns its result."""
    return script_runner.run(SCRIPT.name, cwd, *arguments, **flags)


@pytest.mark.parametrize("case", golden.case_params("pretraining_data"))
def test_records_are_those_of_googles_code(case, tmp_path):
    folder = case.pop("folder")
    recorded = np.load(folder / case.pop("instances"))
    case.pop("name")
    case["input_file"] = ",".join(
        str(folder / name) for name in case["input_file"]
    )
    case["vocab_file"] = folder / case["vocab_file"]
    output_files = [str(tmp_path / f"{name}.tfrecord") for name in "ab"]
    # A flag that is set to its default keeps Google's order and units.
    case |= {"dynamic_masking": False, "output_file": ",".join(output_files)}
    done = run_script(tmp_path, **case).check()
    num_instances = len(recorded["input_ids"])
    assert f"{num_instances:,} instances from" in done.stdout
    spec = feature_specs.pretraining_spec(
        case["max_seq_length"], case["max_predictions_per_seq"]
    )
    for index, path in enumerate(output_files):
        read = record_datasets.decode_batch(
            list(tfrecords.read_records(path)), spec
        )
        assert set(read) == set(recorded)
        for name in recorded:
            # Record i is in file i mod 2.
            np.testing.assert_array_equal(read[name], recorded[name][index::2])


def write_corpus(folder):
    """Writes a corpus of 900 documents, 2.3 MB. Returns its path."""
    text = (CORPUS / "harbor.txt").read_text().strip()
    path = folder / "corpus.txt"
    path.write_text(f"{text}\n\n" * 900)
    return path


@pytest.fixture
def corpus(tmp_path):
    """A corpus in the folder of a test."""
    return write_corpus(tmp_path)


def scalable_flags(corpus, **flags):
    """Returns flags that write shards in several processes."""
    return {
        "input_file": corpus,
        "vocab_file": VOCAB,
        "output_file": corpus.parent / "made" / "out",
        "dupe_factor": 2,
        "num_processes": 2,
        **flags,
    }


@pytest.fixture(scope="module")
def written_shards(tmp_path_factory):
    """FinishedRun that wrote three shards to its folder `made`."""
    folder = tmp_path_factory.mktemp("shards")
    flags = scalable_flags(
        write_corpus(folder), num_shards=3, do_whole_word_mask=True
    )
    done = run_script(folder, **flags).check()
    return script_runner.FinishedRun(folder, flags, done)


def test_the_shards_contain_the_instances_that_are_counted(written_shards):
    made = written_shards.folder / "made"
    names = [f"out-0000{number}-of-00003" for number in range(3)]
    assert sorted(os.listdir(made)) == [*names, "out.manifest.json"]
    files = [str(made / name) for name in names]
    record_checks.check_records(files, feature_specs.pretraining_spec(128, 20))
    count = tfrecords.count_records(files)
    assert count > 1000
    assert f"{count:,} instances" in written_shards.done.stdout


def test_the_same_command_again_writes_no_shard(written_shards):
    folder, flags, first = written_shards
    before = snapshot(folder / "made")
    again = run_script(folder, **flags).check()
    assert snapshot(folder / "made") == before
    count = first.stdout.split()[0]
    assert again.stdout.startswith(f"{count} instances")
    assert "already written to 3 file(s)" in again.stdout


def test_another_flag_than_that_of_the_shards_is_refused(written_shards):
    folder, flags, _ = written_shards
    error = run_script(folder, **flags | {"random_seed": 1}).error
    assert "random_seed=12345" in error


def test_units_are_read_through_a_file_system_of_tensorflow(tmp_path):
    remote = f"file://{CORPUS}/harbor.txt"
    manifest = shards.create_shards(tmp_path, [remote])
    (entry,) = [
        entry for entry in manifest["inputs"] if entry["path"] == remote
    ]
    assert entry["bytes"] == (CORPUS / "harbor.txt").stat().st_size


def test_beam_makes_the_same_bytes(tmp_path):
    pytest.importorskip("apache_beam", reason="Apache Beam is not installed")
    flags = {
        "input_file": f"{CORPUS}/*.txt",
        "vocab_file": VOCAB,
        "output_file": "out",
        "num_shards": 3,
    }
    beam = {
        "pipeline": "beam",
        "runner": "DirectRunner",
        "direct_num_workers": 2,
    }
    bytes_of_shards = {}
    for name, changes in (("beam", beam), ("own", {})):
        (tmp_path / name).mkdir()
        run_script(tmp_path / name, **flags, **changes).check()
        paths = sorted((tmp_path / name).glob("out-*"))
        bytes_of_shards[name] = [path.read_bytes() for path in paths]
    assert len(bytes_of_shards["beam"]) == 3
    assert bytes_of_shards["beam"] == bytes_of_shards["own"]


class ResumedJob(NamedTuple):
    """A job of 8 shards, one of whose workers was killed, and that resumed."""

    made: Path
    error: str
    # What was in `made` when the first command had ended: the bytes of each
    # shard, the times of those whose result was written too, in nanoseconds,
    # and the names of manifests.
    bytes_of_shard: dict[Path, bytes]
    time_of_finished: dict[Path, int]
    manifests: list[str]


@pytest.fixture(scope="module")
def resumed_job(tmp_path_factory):
    """A ResumedJob."""
    if not os.path.exists("/proc/self/task"):
        pytest.skip("no /proc")
    folder = tmp_path_factory.mktemp("killed")
    flags = scalable_flags(write_corpus(folder), num_shards=8, dupe_factor=5)
    made = folder / "made"
    work = made / "out.work"
    with script_runner.start(SCRIPT.name, folder, **flags) as script:
        script.wait_for_files(work, "unit-*.json")
        os.kill(waiting.list_children(script.pid)[-1], signal.SIGKILL)
        error = script.finish().error
    shards_made = [*made.glob("out-*-of-00008")]
    job = ResumedJob(
        made=made,
        error=error,
        bytes_of_shard={shard: shard.read_bytes() for shard in shards_made},
        # A shard that was written just before the end has no result yet.
        time_of_finished={
            shard: shard.stat().st_mtime_ns
            for shard in shards_made
            if (work / f"unit-{shard.name[4:9]}.json").exists()
        },
        manifests=[path.name for path in folder.rglob("*.manifest.json")],
    )
    run_script(folder, **flags).check()
    return job


@pytest.mark.slow
def test_a_killed_worker_ends_the_job_with_an_error(resumed_job):
    assert "killed" in resumed_job.error


@pytest.mark.slow
def test_a_job_that_is_killed_leaves_complete_shards_only(resumed_job):
    assert len(resumed_job.bytes_of_shard) < 8
    for shard, contents in resumed_job.bytes_of_shard.items():
        assert shard.read_bytes() == contents
        tfrecords.count_records([str(shard)])


@pytest.mark.slow
def test_a_job_that_is_killed_writes_no_manifest(resumed_job):
    assert resumed_job.manifests == []


@pytest.mark.slow
def test_a_resumed_job_does_not_write_finished_shards_again(resumed_job):
    assert resumed_job.time_of_finished
    for shard, time_ns in resumed_job.time_of_finished.items():
        assert shard.stat().st_mtime_ns == time_ns


@pytest.mark.slow
def test_a_resumed_job_writes_all_shards_and_the_manifest(resumed_job):
    assert len(os.listdir(resumed_job.made)) == 9


def test_ctrl_c_ends_the_script_with_one_line(corpus):
    # Passes enough that the signal arrives before the end.
    flags = scalable_flags(corpus, dupe_factor=20)
    with script_runner.start(SCRIPT.name, corpus.parent, **flags) as script:
        script.wait_for_files(corpus.parent, "made/out.work/job.json")
        script.send(signal.SIGINT)
        done = script.finish()
    assert done.status == 130
    assert done.stderr.endswith("error: interrupted\n")
    assert "Traceback" not in done.stderr


@pytest.mark.soak
def test_memory_does_not_grow_with_the_corpus(tmp_path):
    source = golden.shared_path("data/corpus/wikipedia_490_articles.txt")
    text = source.read_bytes().strip() + b"\n\n"
    corpus = tmp_path / "corpus.txt"
    with open(corpus, "wb") as file:
        while file.tell() < 600e6:
            file.write(text)
    flags = {
        "input_file": corpus,
        "vocab_file": golden.shared_path("data/vocab/uncased.txt"),
        "output_file": tmp_path / "out",
        "dupe_factor": 1,
        "num_processes": 2,
    }
    arguments = [f"--{name}={value}" for name, value in flags.items()]
    peaks = {}
    # A process of its own, because script_runner's begin with much memory.
    command = [sys.executable, SCRIPT, *arguments]
    with subprocess.Popen(command) as process, killed_late(process):
        while process.poll() is None:
            for pid in (process.pid, *waiting.list_children(process.pid)):
                peaks[pid] = max(peaks.get(pid, 0), peak_memory(pid))
            time.sleep(0.05)
    assert process.returncode == 0
    assert len(peaks) >= 3
    # Each measured from its exec on; megabytes of 2 ** 20.
    assert max(peaks.values()) < 600


def peak_memory(pid):
    """The most memory a process has held, in MiB; 0 once it is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            match = re.search(r"VmHWM:\s+(\d+) kB", file.read())
    except OSError:
        return 0
    return int(match[1]) / 1024 if match else 0
