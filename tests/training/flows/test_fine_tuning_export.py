"""The export of a run replaces an earlier one only if it is as good."""

import pytest

from model_folders import atomic_folders
from tests.support.output_files import read_results, snapshot
from tests.support.tasks import toy_task


class WorseExport(toy_task.ToyTask):
    """A task whose model has another score than its export."""

    labels = ("no", "yes")

    def __init__(self, start):
        super().__init__(start)
        self.scores = iter([0.9, 0.8])

    def evaluate(self, encoded_set, batches):
        assert [*batches]
        return {"accuracy": next(self.scores)}


def test_a_worse_export_replaces_nothing(tmp_path):
    export = tmp_path / "export"
    with atomic_folders.atomic_folder(export, {"earlier": "an export"}):
        pass
    before = snapshot(export)
    options = toy_task.create_run(
        tmp_path,
        max_seq_length=WorseExport.max_seq_length,
        num_train_epochs=0.4,
        do_train=True,
        do_eval=True,
        export_dir=str(export),
        export_format="saved_model",
    )
    with pytest.raises(ValueError, match=f"{export} was not written"):
        toy_task.run_task(WorseExport, options)
    assert snapshot(export) == before
    assert [*tmp_path.glob("export*")] == [export]
    # The scores say why.
    scores = read_results(tmp_path / "run", "export_eval_results.txt")
    assert scores["saved_model_accuracy"] == 0.8
