"""Evaluations of an export on records."""

import numpy as np

from serving.engines.engine import MAX_BATCH_TOKENS
from tests.support.serving import exports
from tests.support.tasks.batch_keeping_task import LENGTH, BatchKeepingTask


def test_records_are_scored_in_batches_of_bounded_size(folders, tmp_path):
    size = MAX_BATCH_TOKENS // LENGTH
    task = BatchKeepingTask(tmp_path, [[7] * LENGTH] * (2 * size + 1))
    scores = task.evaluate_export(folders["classifier"])
    assert scores == {f"{form}_count": 3 for form in exports.SMALL}
    assert [len(outputs) for _, outputs in task.batches] == [size, size, 1]


def test_records_are_padded_to_the_inputs_length(tmp_path, caplog):
    for name, length in (("longer", 20), ("shorter", 8)):
        options = exports.create_options("litert", fixed_length=length)
        model = exports.export_model("squad", tmp_path / name, options)
    rows = [[5] * 16, [6] * 7]
    task = BatchKeepingTask(tmp_path, rows, max_seq_length=16)
    assert task.evaluate_export(tmp_path / "longer") == {"litert_count": 1}
    ((features, outputs),) = task.batches
    for name, values in model(features).items():
        is_real = features["input_mask"] > 0
        np.testing.assert_allclose(
            outputs[name][is_real], values[is_real], atol=1e-5
        )
    assert task.evaluate_export(tmp_path / "shorter") == {}
    assert "--max_seq_length=8" in caplog.text
