"""What each value of --task_name says of a user's tables."""

import pytest

from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_task_specs import TABLE_TASK_SPECS
from data.sets.data_file_split import DataFileOptions
from tests.support.tables.csv_files import write_csv


@pytest.mark.parametrize(
    ("task", "loss_kind"),
    [("csv", "labels"), ("embedding", "similarity"), ("ranking", "ranking")],
)
def test_each_use_has_its_own_loss(task, loss_kind):
    assert TABLE_TASK_SPECS[task].loss_kind == loss_kind


def test_only_single_texts_may_become_a_cross_encoder():
    specs = TABLE_TASK_SPECS.items()
    tasks = [task for task, spec in specs if spec.may_be_cross_encoder]
    assert tasks == ["csv"]


@pytest.mark.parametrize(
    ("task", "columns"),
    [
        ("embedding", ("text", "text_b", "score")),
        ("ranking", ("query", "passage", "relevance")),
    ],
)
def test_a_use_of_pairs_knows_its_usual_columns(task, columns, tmp_path):
    path = tmp_path / "train.csv"
    write_csv(path, columns, [("Who?", "Anna.", 1), ("Who?", "Bob.", 0)])
    processor = TABLE_TASK_SPECS[task].create_processor(
        str(tmp_path), DataFileOptions(), TableOptions(), frozenset()
    )
    examples = processor.read("train")
    texts = [(example.text_a, example.text_b) for example in examples]
    assert texts == [("Who?", "Anna."), ("Who?", "Bob.")]
    assert [float(example.label) for example in examples] == [1, 0]
