"""Which weights a run starts from, and what is said of them."""

import pytest

from files.json_files import write_json
from model_folders import model_json
from options.parsed_command import ParsedCommand
from tests.support.two_weight_model import (
    TwoWeightModel,
    create_loop_config,
    create_loop_trainer,
)
from training.loop.run_weights import RunWeights
from training.run_files.run_folder import RunFolder
from training.starting_point import InitialFolder, StartingPoint

# The checkpoints of `folder`: the newest, and the best step.
NEWEST = 5
BEST = 3


@pytest.fixture
def folder(tmp_path):
    """The folder of a run, in which each weight is the number of its step."""
    # The best step is named in this file.
    write_json(
        tmp_path / model_json.MODEL_JSON_FILE, {"version": model_json.VERSION}
    )
    trainer = create_loop_trainer(tmp_path)
    for step in (BEST, NEWEST):
        trainer.model.one.assign(step)
        trainer.run_weights.global_step = step
        if step == BEST:
            trainer.run_weights.save_best()
    trainer.run_weights.save(keeps_optimizer=True)
    return tmp_path


def weights_of(folder, **flags):
    """Returns a model, and the weights of the run in a folder."""
    config = create_loop_config(folder, **flags)
    starting_point = StartingPoint(
        parsed=ParsedCommand(config),
        initial_folder=InitialFolder(),
        bert_config=None,
        tokenizer=None,
    )
    model = TwoWeightModel()
    return model, RunWeights(
        model, starting_point, RunFolder.open(starting_point)
    )


@pytest.mark.parametrize(
    ("do_train", "load_best", "step", "words"),
    [
        (False, True, BEST, "the weights of step 3 (the best step)"),
        (False, False, NEWEST, "the weights of step 5 (the last step)"),
        (True, True, NEWEST, "the weights of step 5 (the last step)"),
    ],
)
def test_only_a_command_without_training_prefers_the_best_step(
    folder, do_train, load_best, step, words
):
    model, weights = weights_of(folder, do_train=do_train, load_best=load_best)
    weights.load_start()
    assert float(model.one) == step
    assert weights.global_step == step
    assert weights.is_best_step == (step == BEST)
    assert weights.describe() == words


def test_a_command_without_a_checkpoint_evaluates_the_best_step(folder):
    for file in folder.glob("model.ckpt*"):
        file.unlink()
    model, weights = weights_of(folder)
    weights.load_start()
    assert float(model.one) == BEST
    assert weights.is_best_step


def test_a_new_run_without_a_start_has_random_weights(tmp_path):
    model, weights = weights_of(tmp_path, do_train=True)
    weights.load_start()
    assert float(model.one) == 1
    assert weights.global_step == 0
    assert weights.describe() == "random weights"
