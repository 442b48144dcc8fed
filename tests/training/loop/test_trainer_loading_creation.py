"""What create_trainer lets a model train, and which models it refuses."""

import numpy as np
import pytest
import tensorflow as tf

import modeling
from model_folders import kinds
from model_folders.training_settings import TrainingSettings
from tests.support.models import SMALL
from tests.support.tasks.toy_task import create_config, create_starting_point
from training.config.training_config import NumSteps
from training.loop import trainer_loading
from training.loop.run_plan import RunPlan
from training.run_files.run_folder import RunFolder


@pytest.fixture
def create_run_trainer(tmp_path):
    """A function (folder, trains=True, **flags) -> Trainer of a run there.

    `model_class` is the class of its model.
    """

    def create_in(
        name, trains=True, model_class=modeling.BertClassifier, **changes
    ):
        config = create_config(
            tmp_path / name,
            train_batch_size=4,
            summary_steps=0,
            do_train=trains,
            do_eval=not trains,
            **changes,
        )
        starting_point = create_starting_point(config, SMALL)
        plan = RunPlan(
            create_model=lambda config, **arguments: model_class(
                config, 2, **arguments
            ),
            loss=modeling.ClassifierLoss(),
            num_steps=NumSteps(3, 0, 1) if trains else None,
            training_settings=TrainingSettings(),
        )
        return trainer_loading.create_trainer(
            starting_point,
            RunFolder.open(starting_point),
            plan,
            strategy=tf.distribute.get_strategy(),
        )

    return create_in


def weights_of(trainer):
    return {
        name: variable.numpy()
        for name, variable in modeling.named_variables(trainer.model).items()
    }


def test_a_new_model_has_the_random_weights_of_the_seed(create_run_trainer):
    first = weights_of(create_run_trainer("a", seed=1))
    np.testing.assert_equal(weights_of(create_run_trainer("b", seed=1)), first)
    other = weights_of(create_run_trainer("c", seed=2))
    name = "bert/embeddings/word_embeddings"
    assert not np.array_equal(other[name], first[name])


@pytest.mark.parametrize("num_blocks", [0, 1])
def test_frozen_blocks_and_the_embeddings_are_not_trained(
    create_run_trainer, num_blocks
):
    model = create_run_trainer("run", freeze_layers=num_blocks).model
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


def test_a_command_that_does_not_train_has_no_train_step(create_run_trainer):
    assert create_run_trainer("run", trains=False).train_step is None
    assert create_run_trainer("other").train_step is not None


class UnknownModel(modeling.BertClassifier):
    """A model of a class of which no signatures are defined."""


def test_a_model_without_signatures_is_refused_before_the_training(
    create_run_trainer,
):
    with pytest.raises(ValueError, match="no signatures are defined for a Unk"):
        create_run_trainer("run", model_class=UnknownModel, export_dir="export")


def test_a_listed_model_without_an_exporter_is_refused_too(
    create_run_trainer, monkeypatch
):
    kind = kinds.ModelKind(pipeline_tag="text-ranking")
    monkeypatch.setitem(kinds.KIND_OF_CLASS, "UnknownModel", kind)
    with pytest.raises(ValueError, match=r"exporting/export_writer\.py"):
        create_run_trainer("run", model_class=UnknownModel, export_dir="export")


class OwnEmbedder(modeling.BertEmbedder):
    """A user's own model, which is exported as its encoder."""

    def __init__(self, config, num_outputs, **arguments):
        super().__init__(config, **arguments)


def test_a_model_that_is_exported_as_its_encoder_may_train(create_run_trainer):
    trainer = create_run_trainer(
        "run", model_class=OwnEmbedder, export_dir="export"
    )
    assert trainer.train_step is not None


def test_a_model_without_signatures_may_train_without_an_export(
    create_run_trainer,
):
    assert (
        create_run_trainer("run", model_class=UnknownModel).train_step
        is not None
    )
