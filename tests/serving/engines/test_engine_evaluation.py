"""Evaluations of an export on records."""

from model_folders.scores import Scores
from serving.engines.engine import MAX_BATCH_WORDPIECES
from tests.support.serving import exports
from tests.support.tasks.batch_keeping_task import LENGTH, BatchKeepingTask


def test_records_are_scored_in_batches_of_bounded_size(
    export_folders, tmp_path
):
    size = MAX_BATCH_WORDPIECES // LENGTH
    task = BatchKeepingTask(tmp_path, [[7] * LENGTH] * (2 * size + 1))
    scores = task.evaluate_export(export_folders["classifier"])
    assert scores == {
        export_format: Scores({"count": 3}) for export_format in exports.SMALL
    }
    assert [len(outputs) for _, outputs in task.batches] == [size, size, 1]
