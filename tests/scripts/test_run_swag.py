"""run_swag.py on a made-up task in the released files' layout."""

import pytest

from files.json_files import read_json
from tests.support.checkpoints import read_checkpoint
from tests.support.tasks import task_files
from tests.support.tasks.task_runs import (
    check_resume,
    fine_tuning_flags,
    read_predictions,
    run_task_test,
)


@pytest.fixture(scope="module")
def flags(tmp_path_factory, tiny):
    """Flags of a run that has ended."""
    folder = tmp_path_factory.mktemp("swag")
    task_files.write_swag_sets(folder)
    flags = fine_tuning_flags(
        folder,
        tiny / "one_block",
        num_train_epochs=1,
        learning_rate=1e-3,
        export_dir=folder / "served",
        export_weights=folder / "weights",
    )
    run_task_test("run_swag.py", flags, "eval_accuracy")
    return flags


def test_a_head_scores_each_of_four_endings(flags):
    table, lines = read_predictions(flags["output_dir"])
    assert table.shape == (10, 4)
    assert len(lines) == 10
    weights = read_checkpoint(flags["export_weights"] / "bert_model.ckpt")
    assert weights["output_weights"].shape == (1, 32)
    # The length is of one ending, not of all four.
    model = read_json(flags["output_dir"] / "model.json")
    assert model["task"]["max_seq_length"] == 24


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_bits(flags):
    check_resume("run_swag.py", flags)
