"""Models of serving.load that a process keeps, also in workers of a pool."""

import json
import multiprocessing
import operator
import os
import pickle
import shutil
from pathlib import Path

import joblib
import pytest

import serving
from data.parallel_jobs import beam_pipeline
from data.parallel_jobs.beam_options import parse_options
from tests.support.paths import ROOT
from tests.support.serving import dask_cluster

TEXTS = ["The boat left at noon.", "", "a harbor light", "Who?"]


@pytest.fixture
def model(export_folders, tmp_path):
    """A model whose folder a test may change."""
    path = shutil.copytree(export_folders["classifier"], tmp_path / "export")
    return serving.load(path, num_threads=1, engine="litert")


def test_a_pickle_contains_no_weights(model):
    # Only the path and the arguments of `serving.load`.
    assert len(pickle.dumps(model)) < 500


def test_the_tasks_of_a_process_share_an_unpickled_model(model):
    pickled = pickle.dumps(model)
    assert pickle.loads(pickled) is pickle.loads(pickled)


def test_a_pickled_model_answers_the_same(model, monkeypatch):
    pickled = pickle.dumps(model)
    monkeypatch.chdir("/")
    loaded = pickle.loads(pickled)
    assert loaded.path == str(model.path)
    assert loaded.engine.name == "litert"
    assert loaded.classify(TEXTS) == model.classify(TEXTS)


def test_a_relative_path_is_valid_in_other_folders(export_folders, monkeypatch):
    monkeypatch.chdir(export_folders["classifier"].parent)
    pickled = pickle.dumps(serving.load("classifier", engine="onnx"))
    monkeypatch.chdir("/")
    loaded = pickle.loads(pickled)
    assert loaded.engine.name == "onnx"
    assert len(loaded.classify(TEXTS)) == 4


def change_file(model, name):
    """Changes a file of an export so that its replies change."""
    path = Path(model.path, name)
    if name == "vocab.txt":
        *tokens, second, first = path.read_text().splitlines()
        path.write_text("\n".join([*tokens, first, second, ""]))
    else:
        described = json.loads(path.read_text())
        path.write_text(json.dumps({**described, "num_texts": 1}))


@pytest.fixture(params=["model.json", "vocab.txt"])
def changed_model(request, model):
    """A pickled model, of which a file changed afterwards."""
    pickled = pickle.dumps(model)
    change_file(model, request.param)
    return pickle.loads(pickled)


def test_a_model_whose_folder_changed_does_not_reply(changed_model):
    with pytest.raises(ValueError, match="another model"):
        changed_model.classify(TEXTS)


def test_a_model_whose_folder_changed_states_no_settings(changed_model):
    with pytest.raises(ValueError, match="another model"):
        _ = changed_model.head_settings


def test_a_model_whose_folder_is_gone_is_an_error(model):
    pickled = pickle.dumps(model)
    shutil.rmtree(model.path)
    loaded = pickle.loads(pickled)
    with pytest.raises(FileNotFoundError, match="export does not exist"):
        loaded.text_task("classify")


def test_a_pool_says_that_the_folder_changed(model):
    change_file(model, "model.json")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        # A pool whose worker died would wait forever.
        result = pool.map_async(model.classify, TEXTS)
        with pytest.raises(ValueError, match="another model"):
            result.get(timeout=60)
        result = pool.map_async(operator.attrgetter("text_task_names"), [model])
        with pytest.raises(ValueError, match="another model"):
            result.get(timeout=60)


def test_a_pickled_model_answers_in_a_pool_of_processes(model):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        result = pool.map(model.classify, TEXTS, chunksize=1)
    assert result == [model.classify(text) for text in TEXTS]


def test_a_pickled_model_answers_in_joblib(model):
    with joblib.parallel_config("loky", n_jobs=2):
        calls = (joblib.delayed(model.classify)(text) for text in TEXTS)
        result = joblib.Parallel()(calls)
    assert result == [model.classify(text) for text in TEXTS]


def test_a_pickled_model_answers_in_dask(model, tmp_path):
    distributed = pytest.importorskip(
        "distributed", reason="Dask is not installed"
    )
    with (
        dask_cluster.Cluster(tmp_path / "dask") as cluster,
        distributed.Client(cluster.address) as client,
    ):
        result = client.gather(client.map(model.classify, TEXTS))
    assert result == [model.classify(text) for text in TEXTS]


def test_a_pickled_model_answers_in_beam(model, tmp_path, monkeypatch):
    pytest.importorskip("apache_beam", reason="Apache Beam is not installed")

    def write(number, text):
        (tmp_path / f"{number}.json").write_text(
            json.dumps([os.getpid(), model.classify(text)])
        )

    # Beam's worker processes import the project.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    options = parse_options(
        ["--direct_num_workers=2", "--direct_running_mode=multi_processing"]
    )
    [*beam_pipeline.run_on_beam(write, [*enumerate(TEXTS)], options)]
    for number, text in enumerate(TEXTS):
        path = tmp_path / f"{number}.json"
        pid, result = json.loads(path.read_text())
        assert result == model.classify(text)
        assert pid != os.getpid()
