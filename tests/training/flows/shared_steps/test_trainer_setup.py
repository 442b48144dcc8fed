"""How fine-tuning and pretraining get a Trainer with its weights."""

import numpy as np
import pytest

import modeling
from tests.support.models import SMALL
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_start,
    load_tokenizer,
)
from training.config.training_config import NumSteps
from training.flows.fine_tuning_steps.encoded_sets import write_encoded_sets
from training.flows.shared_steps import run_ending, trainer_setup
from training.flows.shared_steps.run_plan import RunPlan
from training.run_files import history
from training.run_files.run_folder import RunFolder


@pytest.fixture
def load(tmp_path):
    """A function (folder, trains=True, **flags) -> Trainer of a run there."""

    def load_in(name, trains=True, **changes):
        config = create_config(
            tmp_path / name,
            train_batch_size=4,
            summary_steps=0,
            do_train=trains,
            do_eval=not trains,
            **changes,
        )
        start = create_start(config, SMALL)
        plan = RunPlan(
            create_model=lambda config, **options: modeling.BertClassifier(
                config, 2, **options
            ),
            loss=modeling.ClassifierLoss(),
            num_steps=NumSteps(3, 0) if trains else None,
            settings={},
            dev_set_checksum=7,
        )
        return trainer_setup.load_trainer(
            start, RunFolder.open(start), plan, teacher=None
        )

    return load_in


def weights_of(trainer):
    return {
        name: variable.numpy()
        for name, variable in modeling.named_variables(trainer.model).items()
    }


def test_a_run_without_weights_begins_with_those_of_the_seed(load):
    first = weights_of(load("a", seed=1))
    np.testing.assert_equal(weights_of(load("b", seed=1)), first)
    other = weights_of(load("c", seed=2))
    name = "bert/embeddings/word_embeddings"
    assert not np.array_equal(other[name], first[name])


def test_a_resumed_run_starts_from_its_last_step(load, tmp_path):
    trainer = load("run")
    assert trainer.run_weights.global_step == 0
    start = create_start(trainer.config, SMALL, load_tokenizer())
    encoded_sets = write_encoded_sets(ToyTask(start), tmp_path / "records")
    trainer.fit(encoded_sets["train"].records, 3)
    again = load("run")
    assert again.run_weights.global_step == 3
    np.testing.assert_equal(weights_of(again), weights_of(trainer))


def test_the_history_marks_scores_with_the_dev_set_of_the_plan(load, tmp_path):
    trainer = load("run", trains=False)
    run_ending.evaluate_at_the_end(trainer, lambda trainer: {"accuracy": 0.5})
    (line,) = history.read_history(tmp_path / "run" / history.HISTORY_FILE)
    assert line["metrics"] == {"accuracy": 0.5}
    assert line["dev_set"] == 7


@pytest.mark.parametrize("num_blocks", [0, 1])
def test_frozen_blocks_and_the_embeddings_are_not_trained(load, num_blocks):
    model = load("run", freeze_layers=num_blocks).model
    frozen = {
        "/".join(name.split("/")[:3])
        for name, variable in modeling.named_variables(model).items()
        if name.startswith("bert/") and not variable.trainable
    }
    embeddings = {
        "bert/embeddings/LayerNorm",
        "bert/embeddings/position_embeddings",
        "bert/embeddings/token_type_embeddings",
        "bert/embeddings/word_embeddings",
    }
    expected = embeddings | {"bert/encoder/layer_0"} if num_blocks else set()
    assert frozen == expected


def test_a_command_that_does_not_train_has_no_train_step(load):
    assert load("run", trains=False).train_step is None
    assert load("other").train_step is not None


class UnknownModel(modeling.BertClassifier):
    """A model of a class of which no signatures are defined."""


def test_a_model_without_signatures_is_refused_before_the_training(tmp_path):
    config = create_config(tmp_path, export_dir="export")
    model = UnknownModel(SMALL, 2)
    with pytest.raises(ValueError, match="no signatures are defined for a Unk"):
        trainer_setup.check_can_export(config, model)


def test_a_model_without_signatures_may_train_without_an_export(tmp_path):
    config = create_config(tmp_path)
    trainer_setup.check_can_export(config, UnknownModel(SMALL, 2))
