"""Which files a run's checkpoints may remove, and links to those of another."""

import os
import shutil

import keras
import pytest
import tensorflow as tf

from files.atomic import partial_path
from model_folders.checkpoint_folders import list_checkpoint_steps
from training.run_files.checkpointer import (
    Checkpointer,
    link_checkpoint,
    remove_old_checkpoints,
)

# The user's own: copies, archives, other tools' files. None is a checkpoint
# that a run here would have written.
USERS = (
    "model.ckpt-2.backup.zip",
    "model.ckpt-3.meta",
    "model.ckpt-3.index.bak",
    "model.ckpt-3.data-00000-of-00002",
    "model.ckpt-5-good.index",
    "model.ckpt-5-good.data-00000-of-00001",
    "model.ckpt-5.partial.txt",
    "model.ckpt-05.index",
    "model.ckpt-best",
    "model.ckpt-",
    "my-model.ckpt-1.index",
    "model.ckpt-1.index.partial-notes",
)
# What killed runs leave.
LEFT_BEHIND = (
    "model.ckpt-2.data-00000-of-00001",
    "model.ckpt-4.partial.index",
    "model.ckpt-4.partial.data-00000-of-00001",
    "model.ckpt-4.partial-123.data-00000-of-00001",
    "model.ckpt-4.partial-123.index.tempstate1234567",
    "model.ckpt-4.partial.data-00000-of-00001.tempstate99",
)
ENDS = ("index", "data-00000-of-00001")


def write_files(folder, names):
    """Writes files that each contain their own name."""
    for name in names:
        (folder / name).write_text(name)


@pytest.fixture
def checkpointer(tmp_path):
    """A Checkpointer of one variable that keeps two checkpoints."""
    variable = keras.Variable([1.0, 2.0], name="a")
    return Checkpointer(tmp_path, {"a": variable}, keep_checkpoint_max=2)


def complete_files(*steps):
    """Returns the names of the files of complete checkpoints."""
    return {
        f"model.ckpt-{step}{end}"
        for step in steps
        for end in (".index", ".data-00000-of-00001")
    }


@pytest.fixture
def four_saves(tmp_path, checkpointer):
    """A checkpointer that has saved four steps among the files of a user."""
    write_files(tmp_path, [*USERS, *LEFT_BEHIND])
    for step in (6, 7, 8, 9):
        checkpointer.save(step)
    return checkpointer


@pytest.mark.usefixtures("four_saves")
def test_only_a_runs_own_files_are_removed(tmp_path):
    assert set(os.listdir(tmp_path)) == {*USERS, "checkpoint"} | complete_files(
        8, 9
    )
    for name in USERS:
        assert (tmp_path / name).read_text() == name


def test_the_last_of_several_steps_is_restored(four_saves):
    assert four_saves.restore() == 9


@pytest.mark.usefixtures("four_saves")
def test_tensorflow_finds_the_steps_that_are_kept(tmp_path):
    state = tf.train.get_checkpoint_state(tmp_path)
    kept = [str(tmp_path / f"model.ckpt-{step}") for step in (8, 9)]
    assert [*state.all_model_checkpoint_paths] == kept
    assert state.model_checkpoint_path == kept[-1]


def test_a_users_checkpoint_in_the_folder_stays(tmp_path, checkpointer):
    write_files(tmp_path, complete_files(5))
    for step in (6, 7, 8):
        checkpointer.save(step)
    assert set(os.listdir(tmp_path)) == {"checkpoint"} | complete_files(5, 7, 8)


def test_link_checkpoint_of_a_damaged_step_keeps_the_old_files(
    tmp_path, checkpointer
):
    checkpointer.save(1)
    run = shutil.copytree(tmp_path, tmp_path / "run")
    os.truncate(run / "model.ckpt-1.data-00000-of-00001", 3)
    link_checkpoint(1, run, tmp_path)
    assert checkpointer.restore() == 1


def test_a_checkpoint_is_on_the_disk_before_it_is_named(
    tmp_path, checkpointer, synced
):
    checkpointer.save(6)
    partial = partial_path("")
    names = [os.path.basename(path) for path, _ in synced]
    assert names == [
        f"model.ckpt-6{partial}.data-00000-of-00001",
        f"model.ckpt-6{partial}.index",
        tmp_path.name,
        f"checkpoint{partial}",
        tmp_path.name,
    ]
    assert synced[1][1] == sorted(names[:2])
    assert set(synced[2][1]) == complete_files(6)


def write_step(folder, step, keep_max, restored_step=-1):
    """Writes the files of a step, and removes those that it replaces."""
    for end in ENDS:
        (folder / f"model.ckpt-{step}.{end}").touch()
    remove_old_checkpoints(
        folder, step, restored_step=restored_step, keep_max=keep_max
    )


def test_the_newest_checkpoints_are_kept(tmp_path):
    for step in (1, 2, 3):
        write_step(tmp_path, step, keep_max=2)
    assert list_checkpoint_steps(tmp_path) == [2, 3]


def test_zero_keeps_all_checkpoints(tmp_path):
    for step in (1, 2, 3):
        write_step(tmp_path, step, keep_max=0)
    assert list_checkpoint_steps(tmp_path) == [1, 2, 3]


def test_later_steps_of_an_earlier_training_are_removed(tmp_path):
    """The user went back to step 2: the training repeats the steps after it."""
    for step in (2, 8, 9, 3):
        write_step(tmp_path, step, keep_max=5, restored_step=2)
    assert list_checkpoint_steps(tmp_path) == [2, 3]


def test_the_step_that_a_run_resumed_from_is_its_own(tmp_path):
    """A folder whose list was lost is not filled by the steps before it."""
    write_step(tmp_path, 1, keep_max=1)
    (tmp_path / "checkpoint").unlink()
    write_step(tmp_path, 2, keep_max=1, restored_step=1)
    assert list_checkpoint_steps(tmp_path) == [2]


def test_a_partial_checkpoint_is_removed(tmp_path):
    """A kill while saving left it."""
    partial = tmp_path / "model.ckpt-1.partial.index"
    partial.touch()
    write_step(tmp_path, 2, keep_max=5)
    assert not partial.exists()


@pytest.fixture
def folders(tmp_path):
    """Two folders with the same step 1: of a run, and of its best step."""
    folders = tmp_path / "run", tmp_path / "best"
    for folder in folders:
        folder.mkdir()
        variable = keras.Variable([1.0, 2.0], name="a")
        Checkpointer(folder, {"a": variable}, keep_checkpoint_max=1).save(1)
    return folders


@pytest.mark.parametrize("end", ENDS)
def test_a_linked_checkpoint_is_the_same_file(folders, end):
    run, best = folders
    link_checkpoint(1, run, best)
    name = f"model.ckpt-1.{end}"
    assert (best / name).samefile(run / name)


def test_a_checkpoint_without_a_source_stays_a_copy(folders):
    run, best = folders
    for end in ENDS:
        (run / f"model.ckpt-1.{end}").unlink()
    link_checkpoint(1, run, best)
    assert list_checkpoint_steps(best) == [1]
