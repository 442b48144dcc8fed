"""Which checkpoint of a folder is used, by the names of its files."""

import json

import pytest

from model_folders.checkpoint_folders import (
    find_best_checkpoint,
    find_tf1_checkpoint,
    list_checkpoint_steps,
)
from tests.support.log_lines import logged_warnings


@pytest.fixture
def create_files(tmp_path):
    """(*names) -> `tmp_path` with empty files of these names."""

    def create_files(*names):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.touch()
        return tmp_path

    return create_files


def test_checkpoint_steps_are_those_of_complete_checkpoints(create_files):
    folder = create_files(
        "model.ckpt-10.index",
        "model.ckpt-9.index",
        "model.ckpt-11.data-00000-of-00001",
        "model.ckpt-012.index",
        "other.ckpt-13.index",
    )
    assert list_checkpoint_steps(folder) == [9, 10]


def test_checkpoint_steps_of_a_missing_folder_are_none(tmp_path):
    assert list_checkpoint_steps(tmp_path / "missing") == []


RUN = ("model.ckpt-7.index", "best/model.ckpt-5.index")


def write_best_step(folder, **task):
    """Writes a model.json that names step 5 as the best one."""
    contents = {"version": 1, "best_step": 5, "task": task}
    (folder / "model.json").write_text(json.dumps(contents))


@pytest.mark.parametrize(
    ("load_best", "run_step", "found"),
    [
        (True, "reported", "best/model.ckpt-5"),
        (True, "last", "model.ckpt-7"),
        (False, "reported", "model.ckpt-7"),
        (False, "best", "best/model.ckpt-5"),
    ],
)
def test_find_tf1_checkpoint_of_a_run_is_the_step_that_it_reports(
    create_files, load_best, run_step, found
):
    folder = create_files(*RUN)
    write_best_step(folder, load_best=load_best)
    actual = find_tf1_checkpoint(folder, run_step)
    assert actual == str(folder / found)


def test_find_tf1_checkpoint_names_the_steps_that_it_knows(create_files):
    with pytest.raises(ValueError, match="run_step='newest'"):
        find_tf1_checkpoint(create_files(*RUN), "newest")


@pytest.mark.parametrize(
    "listed", ["model-2", "/elsewhere/model-2", r"C:\\elsewhere\\model-2"]
)
def test_find_tf1_checkpoint_is_the_newest_that_is_listed(create_files, listed):
    folder = create_files("model-1.index", "model-2.index")
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{listed}"\n')
    assert find_tf1_checkpoint(folder) == str(folder / "model-2")


def test_find_tf1_checkpoint_is_the_only_one_of_a_folder(create_files):
    folder = create_files("bert_model.ckpt.index", "._bert_model.ckpt.index")
    assert find_tf1_checkpoint(folder) == str(folder / "bert_model.ckpt")


def test_find_tf1_checkpoint_takes_the_prefix_of_one(create_files):
    prefix = str(create_files("bert_model.ckpt.index") / "bert_model.ckpt")
    assert find_tf1_checkpoint(prefix) == prefix


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ((), FileNotFoundError, "must contain exactly one checkpoint"),
        (("a.index", "b.index"), FileNotFoundError, "Found: a, b"),
        (("saved_model.pb",), ValueError, "is an export"),
        (("flax_model.msgpack",), ValueError, "weights of Flax"),
        (("global_step7",), ValueError, "checkpoint of DeepSpeed"),
        (("model.pt",), ValueError, "Save the state_dict"),
    ],
    ids=["none", "two", "export", "Flax", "DeepSpeed", "torch"],
)
def test_find_tf1_checkpoint_says_why_there_is_none(
    create_files, names, error, message
):
    with pytest.raises(error, match=message):
        find_tf1_checkpoint(create_files(*names))


def test_find_tf1_checkpoint_of_a_wrong_prefix_names_the_index(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file is .*/a\.index"):
        find_tf1_checkpoint(tmp_path / "a")


@pytest.mark.parametrize(
    "found", ["best/model.ckpt-5", "model.ckpt-5"], ids=["best", "folder"]
)
def test_find_best_looks_in_the_folder_best_and_in_the_runs_own(
    create_files, found
):
    folder = create_files("model.ckpt-7.index", f"{found}.index")
    assert find_best_checkpoint(folder, {"best_step": 5}) == str(folder / found)


def test_find_best_is_none_if_no_step_is_the_best(create_files):
    assert find_best_checkpoint(create_files(*RUN), {}) is None


def test_find_best_is_none_if_the_run_repeats_the_step(create_files):
    folder = create_files("model.ckpt-4.index", "best/model.ckpt-5.index")
    assert find_best_checkpoint(folder, {"best_step": 5}) is None


def test_find_best_warns_if_the_step_is_missing(create_files, caplog):
    assert (
        find_best_checkpoint(
            create_files("model.ckpt-7.index"), {"best_step": 5}
        )
        is None
    )
    (warning,) = logged_warnings(caplog)
    assert "step, 5" in warning
