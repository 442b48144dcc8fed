"""What is checked of files and of a task before any slow work.

test_start_checks_heads.py tests what is checked of the weights.
"""

import pytest

from tests.support.models import SMALL, tiny_config
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_start,
    load_tokenizer,
)
from training.flows import start_checks


def check_start(folder, **flags):
    """Checks the files of a new run, whose network has 8 positions."""
    flags = {"max_seq_length": 8, "do_train": True} | flags
    start_checks.check_start(
        create_start(create_config(folder, **flags), SMALL)
    )


def test_a_new_run_may_write_new_folders(tmp_path):
    check_start(
        tmp_path / "run",
        export_dir=str(tmp_path / "export"),
        export_weights=str(tmp_path / "weights"),
    )


@pytest.mark.parametrize("flag", ["export_dir", "export_weights"])
def test_a_folder_of_the_user_is_not_replaced(tmp_path, flag):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").touch()
    flags = {flag: str(tmp_path / "mine")}
    with pytest.raises(ValueError, match=f"--{flag}="):
        check_start(tmp_path / "run", **flags)


@pytest.mark.parametrize("flag", ["max_seq_length", "export_seq_length"])
def test_a_length_that_the_network_has_not_is_refused(tmp_path, flag):
    flags = {flag: 9}
    with pytest.raises(ValueError, match=f"--{flag}=9 is more than .* 8 pos"):
        check_start(tmp_path / "run", **flags)


class OddTask(ToyTask):
    """A task of two dev sets, whose labels look alike."""

    labels = ("no", "No")

    def __init__(self, start):
        super().__init__(start)
        self.dev_sets = ["dev", "dev_mm"]


def check_task(task_class, **flags):
    """Checks a task that starts from random weights."""
    config = create_config("run", do_train=True, **flags)
    start = create_start(config, tiny_config(), load_tokenizer())
    start_checks.check_task(task_class(start))


def test_labels_that_look_alike_are_named(caplog):
    check_task(OddTask)
    assert "differ only in their spelling" in caplog.text
    assert "'no'" in caplog.text
    assert "'No'" in caplog.text


@pytest.mark.parametrize(
    "name", ["accuracy", "accuracy_mm", "eval_loss", "eval_loss_mm"]
)
def test_each_score_of_a_dev_set_may_choose_the_best_step(name):
    check_task(OddTask, metric_for_best=name)


def test_another_metric_cannot_choose_the_best_step():
    says = "=f1 is not a metric of this task; choose one of accuracy, eval_loss"
    with pytest.raises(ValueError, match=says):
        check_task(ToyTask, metric_for_best="f1")
