"""What each value of --task_name says of a user's tables."""

import pytest

from data.classification.user_tables.column_options import ColumnOptions
from data.classification.user_tables.user_table_tasks import SPEC_OF_TABLE_TASK
from data.tables.data_file_options import DataFileOptions
from tests.support.tables.csv_files import write_csv


@pytest.mark.parametrize(
    ("task", "loss_kind"),
    [("csv", "labels"), ("embedding", "similarity"), ("ranking", "ranking")],
)
def test_each_use_has_its_own_loss(task, loss_kind):
    assert SPEC_OF_TABLE_TASK[task].loss_kind == loss_kind


def test_only_single_texts_may_become_a_cross_encoder():
    specs = SPEC_OF_TABLE_TASK.items()
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
    processor = SPEC_OF_TABLE_TASK[task].create_processor(
        str(tmp_path), DataFileOptions(), ColumnOptions(), frozenset()
    )
    examples = processor.read("train")
    texts = [(example.text_a, example.text_b) for example in examples]
    assert texts == [("Who?", "Anna."), ("Who?", "Bob.")]
    assert [float(example.label) for example in examples] == [1, 0]
