"""Evaluations of an export on records."""

import numpy as np
import pytest

import serving
from serving import engines
from tests import toy_task
from tests.checkpoints import INPUTS
from tests.serving import conftest

LENGTH = conftest.LENGTH


class Keeping(toy_task.ToyTask):
    def evaluate(self, split, batches):
        ((_, self.outputs),) = batches
        return {}


class Counting(toy_task.ToyTask):
    """Counts the batches that were read before the first one was scored."""

    num_read = 0

    def create_batches(self, size):
        assert size * LENGTH <= engines.BUDGET < (size + 1) * LENGTH
        for self.num_read in range(1, 4):
            yield {name: np.ones([size, LENGTH], np.int32) for name in INPUTS}

    def evaluate(self, split, batches):
        _, outputs = next(batches)
        size, num_read = len(outputs["probabilities"]), self.num_read
        return {"first": size, "read": num_read, "more": len([*batches])}


def test_records_are_scored_in_batches_of_bounded_size(folders):
    task = Counting(toy_task.create_config("x", max_seq_length=LENGTH))
    scores = serving.evaluate_export(
        task, folders["classifier"], "eval", task.create_batches
    )
    expected = {"first": engines.BUDGET // LENGTH, "read": 1, "more": 2}
    assert scores == dict.fromkeys(conftest.SMALL, expected)


def evaluate(folder, lengths, format, max_seq_length=LENGTH, **export):
    """Exports a model, and evaluates it on records of these lengths.

    Returns:
        The scores of each format, the task, its batch and the model.
    """
    options = conftest.create_options(format, **export)
    model = conftest.export("squad", folder, options)
    config = toy_task.create_config("x", max_seq_length=max_seq_length)
    task = Keeping(config)
    mask = np.arange(max_seq_length) < np.array(lengths)[:, None]
    batch = dict.fromkeys(INPUTS, mask.astype(np.int32))
    found = serving.evaluate_export(task, folder, "eval", lambda _: [batch])
    return found, task, batch, model


def test_records_of_several_lengths_are_scored(tmp_path):
    """In int8, ONNX Runtime computes each record at a length of its own."""
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "squad"
    _, task, batch, _ = evaluate(
        folder, [LENGTH, 7, 12], "onnx", quantize="int8"
    )
    engine = engines.open_engine(folder, "onnx")
    for row, length in enumerate((LENGTH, 8, 16)):
        alone = engine.run({k: v[row, :length][None] for k, v in batch.items()})
        for name, values in alone.items():
            found = task.outputs[name][row]
            np.testing.assert_allclose(found[:length], values[0], atol=1e-5)
            assert not found[length:].any()


def test_records_are_padded_to_the_inputs_length(tmp_path, caplog):
    found, task, batch, model = evaluate(
        tmp_path / "longer", [16, 7], "litert", 16, export_seq_length=20
    )
    assert found == {"litert": {}}
    for name, values in model(batch).items():
        masked = np.where(batch["input_mask"], values, 0)
        outputs = np.where(batch["input_mask"], task.outputs[name], 0)
        np.testing.assert_allclose(outputs, masked, atol=1e-5)
    found, *_ = evaluate(
        tmp_path / "shorter", [16, 7], "litert", 16, export_seq_length=8
    )
    assert found == {}
    assert "--max_seq_length=8" in caplog.text
