"""Evaluations of an export on records."""

import numpy as np

from modeling import BertConfig, presets
from serving import engines
from tests.serving import conftest
from tests.support import toy_task
from training import exporting, splits

LENGTH = conftest.LENGTH


class Keeping(toy_task.ToyTask):
    """Keeps the features and outputs of each batch of `lengths` WordPieces."""

    def __init__(self, folder, lengths, max_seq_length=LENGTH):
        self.lengths, self.num_examples = lengths, len(lengths)
        self.max_seq_length = max_seq_length
        flags = {"max_seq_length": max_seq_length, "do_eval": True}
        super().__init__(toy_task.create_config(folder, **flags))

    def length(self, number):
        return self.lengths[number]

    def evaluate(self, split, batches):
        self.batches = [*batches]
        return {"count": len(self.batches)}

    def evaluate_export(self, folder):
        """Returns the scores of an export on the task's records."""
        config = BertConfig(vocab_size=1600)
        found = splits.write_splits(self, self.options, config)
        kind = presets.read(folder).head
        return exporting.evaluate_export(self, kind, folder, found)


def test_records_are_scored_in_batches_of_bounded_size(folders, tmp_path):
    size = engines.BUDGET // LENGTH
    task = Keeping(tmp_path, [LENGTH] * (2 * size + 1))
    scores = task.evaluate_export(folders["classifier"])
    assert scores == {f"{form}_count": 3 for form in conftest.SMALL}
    assert [len(outputs) for _, outputs in task.batches] == [size, size, 1]


def test_records_are_padded_to_the_inputs_length(tmp_path, caplog):
    for name, length in (("longer", 20), ("shorter", 8)):
        options = conftest.create_options("litert", fixed_length=length)
        model = conftest.export("squad", tmp_path / name, options)
    task = Keeping(tmp_path, [16, 7], max_seq_length=16)
    assert task.evaluate_export(tmp_path / "longer") == {"litert_count": 1}
    ((features, outputs),) = task.batches
    for name, values in model(features).items():
        is_real = features["input_mask"] > 0
        np.testing.assert_allclose(
            outputs[name][is_real], values[is_real], atol=1e-5
        )
    assert task.evaluate_export(tmp_path / "shorter") == {}
    assert "--max_seq_length=8" in caplog.text
