"""The sets and the labels of a task of classification."""

import pytest

from data.classification.glue import glue_tasks
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_task_specs import TABLE_TASK_SPECS
from data.classification.task_selection.classification_sets import (
    ClassificationSets,
)
from data.sets.data_file_split import DataFileOptions

MNLI_COLUMNS = "premise\thypothesis\tlabel\n"


def read_tables(folder, task_name="csv", **flags):
    """Returns the processors of a user's tables in a folder."""
    spec = TABLE_TASK_SPECS[task_name]
    processor = spec.create_processor(
        folder, DataFileOptions(), TableOptions(**flags), frozenset(flags)
    )
    return ClassificationSets(processor, table_task_spec=spec)


@pytest.fixture
def mnli(tmp_path):
    """The processors of MultiNLI, whose mismatched dev set is missing."""
    for name in ("train", "dev_matched", "test_matched"):
        text = f"{MNLI_COLUMNS}{name}\tb\tneutral\n"
        (tmp_path / f"{name}.tsv").write_text(text)
    return ClassificationSets(
        *glue_tasks.create_glue_processors("mnli", tmp_path, "zh")
    )


@pytest.fixture
def table(tmp_path):
    """The processors of a table of single texts."""
    folder = tmp_path / "table"
    folder.mkdir()
    (folder / "train.csv").write_text("text,label\na,yes\nb,no\n")
    (folder / "test.csv").write_text("text,label\nc,yes\n")
    return read_tables(folder)


def test_multinli_has_mismatched_sets(mnli):
    assert mnli.dev_sets == ["dev", "dev_mm"]
    assert mnli.test_sets == ["test", "test_mm"]


def test_a_table_has_one_set_of_each_kind(table):
    assert table.dev_sets == ["dev"]
    assert table.test_sets == ["test"]


def test_take_reads_the_set_of_its_name(mnli):
    (example,) = mnli.take("dev")
    assert (example.text_a, example.label) == ("dev_matched", "neutral")


def test_take_of_a_missing_mismatched_set_is_none(mnli):
    assert mnli.take("dev_mm") is None


def test_take_reads_a_mismatched_set(tmp_path, mnli):
    text = f"{MNLI_COLUMNS}other\tb\tentailment\n"
    (tmp_path / "dev_mismatched.tsv").write_text(text)
    (example,) = mnli.take("dev_mm")
    assert (example.text_a, example.label) == ("other", "entailment")


def test_take_of_a_missing_dev_set_is_an_error(table):
    with pytest.raises(FileNotFoundError):
        table.take("dev")


def test_take_leaves_out_the_placeholders_of_glues_test_set(mnli):
    (example,) = mnli.take("test")
    assert example.label is None


def test_take_keeps_the_labels_of_a_users_test_set(table):
    (example,) = table.take("test")
    assert example.label == "yes"


def test_labels_of_a_table_are_those_of_its_train_set(table):
    assert table.read_labels() == ["no", "yes"]


def test_num_texts_is_the_number_of_columns(table, mnli):
    assert (table.num_texts, mnli.num_texts) == (1, 2)


def test_read_num_texts_looks_at_the_train_set(table, mnli):
    assert (table.read_num_texts(), mnli.read_num_texts()) == (1, 2)


def test_table_processor_is_none_for_glue(table, mnli):
    assert table.table_processor is table.processor_of("dev")
    assert mnli.table_processor is None


@pytest.mark.parametrize(
    ("task_name", "columns", "loss_kind"),
    [
        ("csv", "text,label", "labels"),
        ("embedding", "sentence1,sentence2,score", "similarity"),
        ("ranking", "query,passage,label", "ranking"),
    ],
)
def test_loss_kind_is_that_of_the_use_of_a_table(
    tmp_path, task_name, columns, loss_kind
):
    row = "a,b,1" if columns.count(",") == 2 else "a,1"
    (tmp_path / "train.csv").write_text(f"{columns}\n{row}\n")
    assert read_tables(tmp_path, task_name).loss_kind == loss_kind


def test_only_a_regression_of_single_texts_may_be_a_cross_encoder(table, mnli):
    assert table.may_be_cross_encoder
    assert not mnli.may_be_cross_encoder
