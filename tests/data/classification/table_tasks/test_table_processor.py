"""What a task of a user's own tables knows beside its rows."""

import numpy as np
import pytest

from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.pairs.pair_scoring import score_ranking
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_task_specs import TABLE_TASK_SPECS
from data.sets.data_file_split import DataFileOptions


def create_processor(task_name, folder, **flags):
    """Creates the processor of a task, with flags that the user set."""
    return TABLE_TASK_SPECS[task_name].create_processor(
        folder, DataFileOptions(), TableOptions(**flags), frozenset(flags)
    )


@pytest.mark.parametrize("mode", [*metrics.METRICS_OF_MODE])
def test_the_kind_of_the_labels_decides_the_metrics(tmp_path, mode):
    processor = create_processor("csv", tmp_path, output_mode=mode)
    assert processor.metrics == metrics.METRICS_OF_MODE[mode]


def test_the_sets_are_those_of_the_files(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    processor = create_processor("csv", tmp_path)
    assert processor.read("train") is processor.file_sets.read("train")
    assert processor.read_labels() == ["x", "y"]


def test_rankings_are_scored_by_the_texts_of_the_queries(tmp_path):
    processor = create_processor("ranking", tmp_path)
    queries = ["a", "a", "b"]
    examples = [InputExample("dev-1", query, "passage") for query in queries]
    labels = np.array([0.0, 1.0, 2.0])
    predictions = np.array([3.0, 1.0, 2.0])
    scores = processor.score(examples, labels, predictions)
    mrr, ndcg = score_ranking(queries, labels, predictions)
    assert scores == {"mrr_10": mrr, "ndcg_10": ndcg}
