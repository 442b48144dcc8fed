"""How the formats of an export are scored on records.

tests/serving/engines/test_engine_evaluation.py tests the size of the batches.
"""

import numpy as np

from tests.support.serving import exports
from tests.support.tasks.batch_keeping_task import BatchKeepingTask


def test_records_are_padded_to_the_inputs_length(tmp_path, caplog):
    for name, length in (("longer", 20), ("shorter", 8)):
        options = exports.create_options("litert", fixed_length=length)
        model = exports.export_model("squad", tmp_path / name, options)
    rows = [[5] * 16, [6] * 7]
    task = BatchKeepingTask(tmp_path, rows, max_seq_length=16)
    scores_of_format = task.evaluate_export(tmp_path / "longer")
    assert scores_of_format["litert"].overall == {"count": 1}
    ((features, outputs),) = task.batches
    for name, values in model(features).items():
        is_real = features["input_mask"] > 0
        np.testing.assert_allclose(
            outputs[name][is_real], values[is_real], atol=1e-5
        )
    assert task.evaluate_export(tmp_path / "shorter") == {}
    assert "--max_seq_length=8" in caplog.text
