"""Lengths, epochs and sets that suit the rows of a table of pairs.

tests/scripts/test_run_classifier_data_file.py tests them with runs.
"""

import dataclasses
from types import SimpleNamespace

import pytest

import modeling
from data.classification.user_tables.table_columns import ColumnOptions
from data.classification.user_tables.table_processor import open_table_processor
from data.classification.user_tables.table_tasks import DEFINITION_OF_TABLE_TASK
from data.sets.data_file_options import DataFileOptions
from data.sets.text_keys import RULE_VERSION
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from tests.support.log_lines import logged_warnings
from tests.support.tables.csv_files import write_csv
from tests.support.tasks import toy_task
from training.config.classifier_config import ClassifierConfig
from training.dev_set.rules import DevSetRule
from training.preparation.data_file_decisions import decide_by_rows
from training.starting_point import InitialFolder

COLUMNS = {
    "text_column": "query",
    "text_b_column": "passage",
    "label_column": "relevance",
}
# 50 queries with four passages each, one of which is relevant.
ROWS = [(f"q{i // 4}", f"p{i}", int(i % 4 == 0)) for i in range(200)]
# Each text of a pair is one word, which becomes this many WordPieces.
NUM_PIECES = 20
TOKENIZER = SimpleNamespace(tokenize=lambda text: text.split() * NUM_PIECES)
# [CLS], then both texts, each followed by [SEP].
LENGTH_OF_PAIR = 1 + 2 * (NUM_PIECES + 1)
# The train set is so small that it gets the most epochs that may be chosen.
NUM_EPOCHS = 20


@pytest.fixture
def table(tmp_path):
    """Path of a table of queries and passages."""
    path = tmp_path / "pairs.csv"
    write_csv(path, COLUMNS.values(), ROWS)
    return str(path)


def create_processor(table, task_name):
    """Returns what reads the table for a task."""
    return open_table_processor(
        DEFINITION_OF_TABLE_TASK[task_name],
        None,
        DataFileOptions(data_file=table),
        ColumnOptions(**COLUMNS),
        COLUMNS,
    )


def decide_epochs_and_length(
    table, task_name, max_position_embeddings=512, **decided
):
    """Returns the numbers of epochs and of WordPieces of a training.

    `decided` are the flags that the folder of the weights has decided.
    """
    config = ClassifierConfig.from_values(
        output_dir="",
        do_train=True,
        data_file=table,
    )
    bert_config = modeling.BertConfig(
        vocab_size=100, max_position_embeddings=max_position_embeddings
    )
    starting_point = toy_task.create_starting_point(
        config, bert_config, TOKENIZER, set_by_user=COLUMNS
    )
    parsed = starting_point.parsed.decide_if_open(decided, "model.json")
    starting_point = dataclasses.replace(starting_point, parsed=parsed)
    processor = create_processor(table, task_name)
    starting_point = decide_by_rows(starting_point, processor.sets)
    options = starting_point.config.fine_tuning
    return options.num_train_epochs, options.max_seq_length


TASK_NAMES = pytest.mark.parametrize("task_name", ["embedding", "ranking"])


@TASK_NAMES
def test_the_length_is_that_of_the_rows(table, task_name):
    expected = (NUM_EPOCHS, LENGTH_OF_PAIR)
    assert decide_epochs_and_length(table, task_name) == expected


@TASK_NAMES
def test_the_length_is_at_most_that_of_the_model(table, task_name):
    num_positions = LENGTH_OF_PAIR - 3
    decided = decide_epochs_and_length(
        table, task_name, max_position_embeddings=num_positions
    )
    assert decided == (NUM_EPOCHS, num_positions)


@TASK_NAMES
@pytest.mark.parametrize(
    ("epochs", "length"),
    [pytest.param(5, 64, id="chosen"), pytest.param(3, 128, id="defaults")],
)
def test_a_resumed_run_keeps_its_epochs_and_its_length(
    table, task_name, epochs, length
):
    decided = decide_epochs_and_length(
        table, task_name, num_train_epochs=epochs, max_seq_length=length
    )
    assert decided == (epochs, length)


@pytest.mark.parametrize(
    ("task_name", "num_dev_rows"), [("embedding", 41), ("ranking", 44)]
)
def test_pairs_are_split_into_a_train_set_and_a_dev_set(
    table, task_name, num_dev_rows
):
    processor = create_processor(table, task_name)
    assert len(processor.sets.read("dev")) == num_dev_rows
    assert len(processor.sets.read("train")) == len(ROWS) - num_dev_rows


def test_all_passages_of_a_query_are_in_one_set(table):
    processor = create_processor(table, "ranking")
    train_queries, dev_queries = (
        {example.text_a for example in processor.sets.read(set_name)}
        for set_name in ("train", "dev")
    )
    assert not train_queries & dev_queries


def test_the_start_gets_the_rule_and_its_doubt_is_logged(table, caplog):
    key = ("query",)
    former = DevSetRule(RULE_VERSION + 1, 0.2, key, clean_fraction=0.2)
    preset = Preset(
        "run",
        weights_path="run",
        source="run",
        training_settings=TrainingSettings(inputs={"split": former.to_entry()}),
    )
    config = ClassifierConfig.from_values(
        output_dir="",
        data_file=table,
        dev_fraction=0.2,
    )
    starting_point = dataclasses.replace(
        toy_task.create_starting_point(config, None),
        initial_folder=InitialFolder(preset),
    )
    sets = create_processor(table, "ranking").sets
    starting_point = decide_by_rows(starting_point, sets)
    assert starting_point.dev_set_rule == DevSetRule(
        RULE_VERSION, 0.2, key, clean_fraction=0.0
    )
    warnings = logged_warnings(caplog)
    assert warnings == [
        "Rows of this dev set may have been trained on: run chose its dev set "
        "in another way. Do not trust its scores."
    ]
