"""Evaluations of an export on records."""

import numpy as np
import pytest

import serving
from serving import engines
from serving.signatures import ServingOptions
from tests import toy_task
from tests.checkpoints import INPUTS
from tests.serving import conftest
from training.config import ExportConfig

LENGTH = conftest.LENGTH


class Keeping(toy_task.ToyTask):
    """Keeps the outputs of the first batch."""

    head = "BertSpanLabeler"

    def read_served(self, outputs):
        return outputs

    def evaluate(self, split, batches):
        ((_, self.outputs),) = batches
        return {}


def test_records_of_several_lengths_are_scored(tmp_path):
    """In int8, ONNX Runtime computes each record at a length of its own."""
    pytest.importorskip("onnxruntime")
    config = ExportConfig(export_dir="x", export_format="onnx", quantize="int8")
    options = ServingOptions(conftest.TOKENIZER, LENGTH, export=config)
    conftest.export("squad", tmp_path / "squad", options)
    task = Keeping(toy_task.create_config("x", max_seq_length=LENGTH))
    mask = (np.arange(LENGTH) < [[LENGTH], [7], [12]]).astype(np.int32)
    batch = dict.fromkeys(INPUTS, mask)
    serving.evaluate_export(task, tmp_path / "squad", "eval", lambda _: [batch])
    engine = engines.open_engine(tmp_path / "squad", "onnx")
    for row, length in enumerate((LENGTH, 8, 16)):
        alone = engine.run({k: v[row, :length][None] for k, v in batch.items()})
        for name, values in alone.items():
            found = task.outputs[name][row]
            np.testing.assert_allclose(found[:length], values[0], atol=1e-5)
            assert not found[length:].any()
