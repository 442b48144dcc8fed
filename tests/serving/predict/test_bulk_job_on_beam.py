"""predict.py --pipeline=beam: the bytes of one process, whatever is killed."""

import shutil
import signal

import pytest

from tests.support import script_runner
from tests.support.serving import dask_cluster
from tests.support.serving.bulk_files import shards_of, write_texts
from tests.support.serving.exports import relabel


@pytest.fixture(autouse=True)
def beam():
    """Skips these tests without Apache Beam."""
    pytest.importorskip("apache_beam", reason="Apache Beam is not installed")


def options_of(export_folders, **flags):
    """Returns the flags that answer the texts in 12 shards."""
    return {
        "model": export_folders["classifier"],
        "input_file": "in.txt",
        "output_file": "out.csv",
        "num_shards": 12,
        **flags,
    }


def test_beam_writes_the_bytes_of_one_process(export_folders, tmp_path):
    write_texts(tmp_path / "in.txt", 300)
    run = script_runner.run
    flags = options_of(export_folders)
    own = run("predict.py", tmp_path, **flags).check()
    done = run(
        "predict.py",
        tmp_path,
        "--runner",
        "DirectRunner",
        "--direct_num_workers=2",
        **flags | {"output_file": "beam.csv", "pipeline": "beam"},
    ).check()
    for process in (own, done):
        assert "300 answered, 0 failed; wrote" in process.stderr
    made = shards_of(tmp_path, "beam")
    assert len(made) == 12
    assert made == shards_of(tmp_path, "out")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("--runnr DirectRunner", "unknown flag --runnr; perhaps --runner"),
        ("--num_shard=3", "unknown flag --num_shard; perhaps --num_shards"),
        ("text", "every argument must be a flag"),
    ],
)
def test_a_misspelled_flag_is_refused_before_anything_is_written(
    export_folders, tmp_path, arguments, part
):
    write_texts(tmp_path / "in.txt", 3)
    error = script_runner.run(
        "predict.py",
        tmp_path,
        *arguments.split(),
        **options_of(export_folders, pipeline="beam"),
    ).error
    assert part in error
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


@pytest.mark.slow
def test_a_killed_worker_of_dask_changes_no_reply(export_folders, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    write_texts(tmp_path / "in.txt", 30_000)
    flags = options_of(export_folders)
    script_runner.run("predict.py", tmp_path, **flags).check()
    with (
        dask_cluster.Cluster(tmp_path / "dask") as cluster,
        script_runner.start(
            "predict.py",
            tmp_path,
            "--runner=DaskRunner",
            f"--dask_client_address={cluster.address}",
            **flags | {"pipeline": "beam", "output_file": "dask.csv"},
        ) as script,
    ):
        script.wait_for_files(tmp_path / "dask.csv.work", "unit-*.json")
        cluster.workers[0].send_signal(signal.SIGKILL)
        done = script.finish().check()
        assert "Remove worker" in cluster.log()
    assert "30000 answered, 0 failed; wrote" in done.stderr
    made = shards_of(tmp_path, "dask")
    assert len(made) == 12
    assert made == shards_of(tmp_path, "out")
    assert not [*tmp_path.glob("*.partial-*"), *tmp_path.glob("*.work")]


@pytest.mark.slow
def test_workers_of_dask_notice_another_model(export_folders, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    write_texts(tmp_path / "in.txt", 300)
    model = shutil.copytree(export_folders["classifier"], tmp_path / "model")
    flags = options_of(export_folders, model=model)
    run = script_runner.run
    with dask_cluster.Cluster(tmp_path / "dask") as cluster:
        for name in ("first.csv", "second.csv"):
            run(
                "predict.py",
                tmp_path,
                "--runner=DaskRunner",
                f"--dask_client_address={cluster.address}",
                **flags | {"pipeline": "beam", "output_file": name},
            ).check()
            relabel(model, ["a", "b", "c"])
    run("predict.py", tmp_path, **flags).check()
    assert shards_of(tmp_path, "second") == shards_of(tmp_path, "out")
    assert shards_of(tmp_path, "first") != shards_of(tmp_path, "out")
