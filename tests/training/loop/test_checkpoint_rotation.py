"""Which checkpoints stay in a folder, and links to those of another.

test_checkpointer.py tests it with checkpoints that were really saved.
"""

import keras
import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from training.loop import checkpointer
from training.loop.checkpoint_rotation import (
    link_checkpoint,
    remove_old_checkpoints,
)

ENDS = ("index", "data-00000-of-00001")


def save(folder, step, keep_max, restored_step=-1):
    """Writes the files of a step, and removes those that it replaces."""
    for end in ENDS:
        (folder / f"model.ckpt-{step}.{end}").touch()
    remove_old_checkpoints(
        folder, step, restored_step=restored_step, keep_max=keep_max
    )


def test_the_newest_checkpoints_are_kept(tmp_path):
    for step in (1, 2, 3):
        save(tmp_path, step, keep_max=2)
    assert list_checkpoint_steps(tmp_path) == [2, 3]


def test_zero_keeps_all_checkpoints(tmp_path):
    for step in (1, 2, 3):
        save(tmp_path, step, keep_max=0)
    assert list_checkpoint_steps(tmp_path) == [1, 2, 3]


def test_later_steps_of_an_earlier_training_are_removed(tmp_path):
    """The user went back to step 2: the training repeats the steps after it."""
    for step in (2, 8, 9, 3):
        save(tmp_path, step, keep_max=5, restored_step=2)
    assert list_checkpoint_steps(tmp_path) == [2, 3]


def test_the_step_that_a_run_resumed_from_is_its_own(tmp_path):
    """A folder whose list was lost is not filled by the steps before it."""
    save(tmp_path, 1, keep_max=1)
    (tmp_path / "checkpoint").unlink()
    save(tmp_path, 2, keep_max=1, restored_step=1)
    assert list_checkpoint_steps(tmp_path) == [2]


def test_a_partial_checkpoint_is_removed(tmp_path):
    """A kill while saving left it."""
    partial = tmp_path / "model.ckpt-1.partial.index"
    partial.touch()
    save(tmp_path, 2, keep_max=5)
    assert not partial.exists()


@pytest.fixture
def folders(tmp_path):
    """Two folders with the same step 1: of a run, and of its best step."""
    folders = tmp_path / "run", tmp_path / "best"
    for folder in folders:
        folder.mkdir()
        variable = keras.Variable([1.0, 2.0], name="a")
        checkpointer.Checkpointer(
            folder, {"a": variable}, keep_checkpoint_max=1
        ).save(1)
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
