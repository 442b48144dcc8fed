"""What a Trainer trains, from the start or resumed, and what stops it."""

import pytest

from data.io.feature_specs import FeatureSpec
from data.io.record_datasets import Records
from data.io.tf_examples import encode_example
from data.io.tfrecords import frame_record
from tests.support.two_weight_model import (
    BATCH_SIZE,
    OnStep,
    create_batches,
    create_loop_trainer,
    fit_batches,
)
from training.loop.trainer import Trainer

# The features `factor` of the records.
FACTORS = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0]


def create_step_recorder():
    """Returns (a callback, the list of the steps after which it was called)."""
    steps = []
    return OnStep(lambda step, logs: steps.append(step)), steps


def test_a_resumed_run_trains_only_the_steps_that_are_left(tmp_path):
    fit_batches(create_loop_trainer(tmp_path), create_batches([]), 3)
    trainer = create_loop_trainer(tmp_path)
    trainer.run_weights.load_start()
    callback, steps = create_step_recorder()
    fit_batches(trainer, create_batches([]), 5, [callback])
    assert steps == [4, 5]


@pytest.fixture
def records(tmp_path):
    """Records of eight factors, for four steps of a TwoWeightModel."""
    records = [
        frame_record(encode_example({"factor": [factor], "zero": [0.0]}))
        for factor in FACTORS
    ]
    path = tmp_path / "train.tf_record"
    path.write_bytes(b"".join(records))
    number = FeatureSpec((), "float32")
    return Records([str(path)], {"factor": number, "zero": number})


def train_on_records(folder, records, num_train_steps):
    """Trains up to a step, and returns the losses of the new steps."""
    # With so small a learning rate the weight stays 1, and the loss of a step
    # is the mean of its factors.
    trainer = create_loop_trainer(folder, learning_rate=1e-9)
    trainer.run_weights.load_start()
    losses = []
    callback = OnStep(lambda step, logs: losses.append(float(logs["loss"])))
    trainer.fit(records, num_train_steps, [callback])
    return losses


def test_an_epoch_trains_once_on_each_record(tmp_path, records):
    losses = train_on_records(tmp_path / "run", records, 4)
    assert sum(losses) * BATCH_SIZE == pytest.approx(sum(FACTORS), rel=1e-4)


def test_a_resumed_run_reads_the_records_of_the_steps_that_are_left(
    tmp_path, records
):
    whole = train_on_records(tmp_path / "whole", records, 4)
    start = train_on_records(tmp_path / "resumed", records, 2)
    rest = train_on_records(tmp_path / "resumed", records, 4)
    assert start + rest == pytest.approx(whole, rel=1e-4)


def test_a_finished_run_trains_nothing(tmp_path, caplog):
    caplog.set_level("INFO")
    fit_batches(create_loop_trainer(tmp_path), create_batches([]), 3)
    trainer = create_loop_trainer(tmp_path)
    trainer.run_weights.load_start()
    callback, steps = create_step_recorder()
    fit_batches(trainer, create_batches([]), 3, [callback])
    assert not steps
    assert "has ended at step 3" in caplog.text


def test_a_trainer_that_only_predicts_cannot_train(tmp_path):
    trainer = create_loop_trainer(tmp_path)
    predictor = Trainer(
        trainer.model, trainer.starting_point, trainer.run_folder
    )
    with pytest.raises(ValueError, match="without a training step"):
        fit_batches(predictor, create_batches([]), 1)
