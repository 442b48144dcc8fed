"""What is checked of a task before any slow work.

test_start_checks_heads.py and test_start_checks_network.py test what is checked
of the weights.
"""

import pytest

from tests.support.log_lines import logged_warnings
from tests.support.models import tiny_config
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_starting_point,
    load_tokenizer,
)
from training.preparation import start_checks


class OddTask(ToyTask):
    """A task of two dev sets, whose labels look alike."""

    def __init__(self, starting_point):
        super().__init__(
            starting_point, labels=("no", "No"), dev_sets=["dev", "dev_mm"]
        )


def check_task(task_class, **flags):
    """Checks a task that starts from random weights, and returns it."""
    config = create_config("run", do_train=True, **flags)
    starting_point = create_starting_point(
        config, tiny_config(), load_tokenizer()
    )
    task = task_class(starting_point)
    start_checks.check_task(task)
    return task


def test_labels_that_look_alike_are_named(caplog):
    start_checks.warn_of_labels(check_task(OddTask))
    (warning,) = logged_warnings(caplog)
    assert "'no'" in warning
    assert "'No'" in caplog.text


@pytest.mark.parametrize(
    "name", ["accuracy", "accuracy_mm", "eval_loss", "eval_loss_mm"]
)
def test_each_score_of_a_dev_set_may_choose_the_best_step(name):
    check_task(OddTask, metric_for_best=name)


def test_another_metric_cannot_choose_the_best_step():
    says = "=f1 .* choose one of accuracy, eval_loss"
    with pytest.raises(ValueError, match=says):
        check_task(ToyTask, metric_for_best="f1")
