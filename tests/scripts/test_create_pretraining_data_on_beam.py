"""create_pretraining_data.py --pipeline=beam, on this machine and on Dask."""

import gzip
import os
import signal

import pytest

from tests.support import script_runner
from tests.support.paths import ROOT
from tests.support.serving import dask_cluster

SCRIPT = "create_pretraining_data.py"
CORPUS = ROOT / "tests/testdata/golden/pretraining_data/corpus"
VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"
FLAGS = {
    "input_file": f"{CORPUS}/*.txt",
    "vocab_file": VOCAB,
    "output_file": "out",
    "num_shards": 3,
}


@pytest.fixture(autouse=True)
def beam():
    """Skips these tests without Apache Beam."""
    pytest.importorskip("apache_beam", reason="Apache Beam is not installed")


def run_on_beam(folder, arguments="", **flags):
    """Runs the script on Beam, in a folder of its own. Returns its result."""
    folder.mkdir(exist_ok=True)
    flags = FLAGS | {"pipeline": "beam"} | flags
    # Beam's flags come first, so that its values in a word of their own are
    # followed by flags of the script.
    return script_runner.run(SCRIPT, folder, *arguments.split(), **flags)


def shards_in(folder):
    """Returns {name: bytes} of the shards in a folder."""
    return {path.name: path.read_bytes() for path in folder.glob("out-*")}


@pytest.mark.parametrize(
    "arguments",
    [
        "--direct_num_workers=2 --runner=DirectRunner",
        "--runner DirectRunner --direct_num_workers 1 --experiment=foo",
        "--job_name=1 --beam_option=service_key=a=b",
    ],
)
def test_beam_makes_the_same_bytes(tmp_path, arguments):
    run_on_beam(tmp_path / "beam", arguments).check()
    run_on_beam(tmp_path / "own", pipeline=None).check()
    shards = shards_in(tmp_path / "beam")
    assert len(shards) == 3
    assert shards == shards_in(tmp_path / "own")


@pytest.mark.parametrize(
    ("arguments", "flags", "part"),
    [
        ("--runnr DirectRunner", {}, "--runnr; perhaps --runner"),
        ("--dupe_facter=2", {}, "--dupe_facter; perhaps --dupe_factor"),
        ("--dask_npartitions=2", {}, "unknown flag --dask_npartitions: nei"),
        ("--dupe_facter=2", {"pipeline": None}, "Did you mean: dupe_factor"),
        ("--runner=DirectRunner", {"pipeline": "local"}, "flag 'runner'"),
    ],
)
def test_a_misspelled_flag_is_refused_before_anything_is_written(
    tmp_path, arguments, flags, part
):
    assert part in run_on_beam(tmp_path, arguments, **flags).error
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "arguments",
    ["", "--direct_num_workers=2 --direct_running_mode=multi_processing"],
)
def test_an_error_of_a_worker_is_one_line(tmp_path, monkeypatch, arguments):
    compressed = gzip.compress(b"One text.\nTwo.\n\n" * 1000)
    (tmp_path / "corpus.txt.gz").write_bytes(compressed[:-9])
    local = run_on_beam(
        tmp_path, pipeline=None, input_file="corpus.txt.gz"
    ).error
    # Beam's worker processes import the project.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    error = run_on_beam(tmp_path, arguments, input_file="corpus.txt.gz").error
    cause = local.partition("corpus.txt.gz")[2]
    assert len(cause) > 9
    assert error.endswith(f"corpus.txt.gz{cause}")
    assert "Traceback" not in error
    assert "while running" not in error


def test_workers_without_the_project_are_named(tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    with dask_cluster.Cluster(tmp_path / "dask", PYTHONPATH="") as cluster:
        error = run_on_beam(
            tmp_path / "beam",
            f"--runner=DaskRunner --dask_client_address={cluster.address}",
        ).error
    assert "ModuleNotFoundError: No module named 'data'. Install" in error


@pytest.mark.slow
def test_a_killed_worker_of_dask_changes_no_byte(tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    text = (CORPUS / "harbor.txt").read_text().strip()
    (tmp_path / "corpus.txt").write_text(f"{text}\n\n" * 900)
    flags = {
        "input_file": tmp_path / "corpus.txt",
        "num_shards": 8,
        "dupe_factor": 5,
    }
    own = tmp_path / "own"
    run_on_beam(own, pipeline=None, **flags).check()
    expected = shards_in(own)

    with dask_cluster.Cluster(tmp_path / "dask") as cluster:
        address = f"--dask_client_address={cluster.address}"
        on_dask = flags | {"pipeline": "beam", "output_file": "../out"}
        with script_runner.start(
            SCRIPT, own, "--runner=DaskRunner", address, **FLAGS | on_dask
        ) as script:
            script.wait_for_files(tmp_path / "out.work", "unit-*.json")
            # The worker is killed in the middle of a task.
            cluster.workers[0].send_signal(signal.SIGKILL)
            script.finish().check()
        assert "Remove worker" in cluster.log()

    assert len(expected) == 8
    assert shards_in(tmp_path) == expected
    names = {*os.listdir(tmp_path)} - {"own", "dask", "corpus.txt"}
    assert names == {"out.manifest.json", *expected}
