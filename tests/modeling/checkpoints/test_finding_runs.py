"""The checkpoint that is found in the folder of a fine-tuning."""

import keras
import pytest

import modeling
from tests.support.checkpoints import assert_same_bits, read_checkpoint
from tests.support.tasks import scripted_task
from tests.support.tasks.scripted_task import STEPS_PER_EPOCH, run_task


@pytest.fixture
def flags(tmp_path):
    """Flags of a run of three epochs that evaluates each of them."""
    return scripted_task.create_flags(tmp_path)


@pytest.fixture
def kept_policy():
    """Undoes what --mixed_precision sets for all models of the process."""
    policy = keras.config.dtype_policy()
    yield
    keras.config.set_dtype_policy(policy)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("evaluates", "accuracies", "place"),
    [
        pytest.param(
            True, [0.9, 0.8, 0.7], "best/model.ckpt-2", id="each epoch"
        ),
        pytest.param(False, [0.9], "model.ckpt-6", id="at the end"),
    ],
)
def test_the_checkpoint_of_a_run_is_the_step_that_it_exported(
    evaluates, accuracies, place, flags, tmp_path, kept_policy
):
    run_task(
        flags,
        accuracies,
        evaluate_each_epoch=evaluates,
        mixed_precision="float16",
    )
    run = tmp_path / "run"
    assert modeling.find_checkpoint(run) == str(run / place)
    bert_config = modeling.load_config(run)
    model = modeling.BertClassifier(bert_config, 2, dtype="float32")
    report = modeling.load_checkpoint(model, run)
    # Slots and the loss scale are not called unused.
    assert not report.unused
    assert not report.missing
    exported = read_checkpoint(tmp_path / "weights/bert_model.ckpt")
    variables = modeling.named_variables(model)
    assert_same_bits(
        {name: variables[name].numpy() for name in exported}, exported
    )


def test_the_checkpoint_of_a_run_without_load_best_is_its_last_step(
    flags, tmp_path
):
    """Every later command and `from_preset` use the weights that it scored."""
    run_task(flags, [0.9, 0.8, 0.7], load_best=False)
    run = tmp_path / "run"
    last = STEPS_PER_EPOCH * 3
    assert modeling.find_checkpoint(run) == f"{run}/model.ckpt-{last}"
    model = modeling.BertClassifier.from_preset(run)
    expected = read_checkpoint(run, last)
    variables = modeling.named_variables(model)
    names = [name for name in expected if name in variables]
    assert_same_bits(
        {name: variables[name].numpy() for name in names if "seed" not in name},
        {name: expected[name] for name in names if "seed" not in name},
    )
    # A user may still ask for the best step.
    best = modeling.find_checkpoint(run, run_step="best")
    assert best == f"{run}/best/model.ckpt-{STEPS_PER_EPOCH}"
