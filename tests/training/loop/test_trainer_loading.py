"""What load_trainer takes from the plan, and from the folder of the run."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from model_folders.scores import Evaluation, Scores
from model_folders.training_settings import TrainingSettings
from tests.support.models import SMALL
from tests.support.tasks.toy_task import create_config, create_starting_point
from training.loop.run_plan import RunPlan
from training.loop.trainer_loading import load_trainer
from training.run_files.history import HISTORY_FILE, format_line, read_history


@pytest.fixture
def load_here(tmp_path):
    """A function (**fields of the plan) -> Trainer of a run in the folder."""
    starting_point = create_starting_point(
        create_config(tmp_path, do_eval=True), SMALL
    )

    def load_here(**fields):
        plan = RunPlan(
            create_model=lambda config, **arguments: modeling.BertClassifier(
                config, 2, **arguments
            ),
            loss=modeling.ClassifierLoss(),
            num_steps=None,
            training_settings=TrainingSettings(),
            **fields,
        )
        return load_trainer(
            starting_point, plan, strategy=tf.distribute.get_strategy()
        )

    return load_here


def test_random_weights_depend_on_no_earlier_draw(load_here):
    """A teacher draws random numbers before its weights are loaded."""
    first = load_here().model.get_weights()
    keras.random.normal([3])
    np.testing.assert_equal(load_here().model.get_weights(), first)


def test_evaluations_are_recorded_with_the_dev_set_of_the_plan(
    load_here, tmp_path
):
    trainer = load_here(dev_set_checksum=7)
    evaluation = Evaluation(3, Scores({"accuracy": 0.5}))
    trainer.run_folder.write_evaluation(evaluation)
    (line,) = read_history(tmp_path / HISTORY_FILE)
    assert line["dev_set"] == 7


def test_a_best_step_whose_checkpoints_are_missing_is_forgotten(
    load_here, tmp_path
):
    line = {
        "kind": "checkpoint",
        "step": 4,
        "hours": 0.5,
        "examples": 32,
        "learning_rate": None,
        "metrics": {},
        "best_step": 2,
    }
    (tmp_path / HISTORY_FILE).write_text(format_line(line))
    run_folder = load_here().run_folder
    assert run_folder.best_step.step is None
    assert run_folder.history.hours == 0


def test_the_folder_has_the_labels_of_the_plan(load_here):
    assert load_here(labels=["no", "yes"]).run_folder.labels == ["no", "yes"]
