"""Two steps at the width of BERT-Base, against transformers' gradients."""

import pytest

import modeling
from modeling import losses
from tests.support import base_width, golden
from tests.support.two_weight_model import (
    OnStep,
    create_loop_trainer,
    fit_batches,
)
from tests.testdata.golden.base_width import record


def train_recorded_steps(output_dir, dtype):
    """Returns the logs of each step, and {name: change of a variable}."""
    model = base_width.create_model(dtype)
    trainer = create_loop_trainer(
        output_dir,
        model=model,
        loss=losses.PretrainingLoss(),
        num_steps=(record.NUM_TRAIN_STEPS, 0),
        learning_rate=record.LEARNING_RATE,
        train_batch_size=record.BATCH,
    )
    logs = []
    look = OnStep(lambda step, values: logs.append(values))
    batches = [record.create_batch(step) for step in range(record.NUM_STEPS)]
    fit_batches(trainer, batches, record.NUM_STEPS, [look])
    changes = {
        name: variable.numpy() - record.draw(name, variable.shape)
        for name, variable in modeling.named_variables(model).items()
        if variable.trainable
    }
    return logs, changes


def check_recorded(logs, changes, tolerance):
    """Compares losses, and changes of variables, with the recorded ones."""
    numbers = base_width.read_numbers()
    for step, log in enumerate(logs):
        for name in ("masked_lm_loss", "next_sentence_loss"):
            expected, _ = numbers[f"{step}/out/{name}"]
            assert log[name] == pytest.approx(expected, rel=1e-5)
    expected = {
        name.removeprefix("change/"): value
        for name, value in numbers.items()
        if name.startswith("change/")
    }
    base_width.assert_close(changes, expected, tolerance)


def test_steps_in_plain_operations_are_those_that_were_recorded(tmp_path):
    with golden.compute_in_version("plain"):
        logs, changes = train_recorded_steps(tmp_path, "float64")
    check_recorded(logs, changes, tolerance=1e-9)


@pytest.mark.slow
def test_steps_in_faster_versions_are_those_that_were_recorded(
    tmp_path,
):
    logs, changes = train_recorded_steps(tmp_path, "float32")
    check_recorded(logs, changes, tolerance=1e-3)
