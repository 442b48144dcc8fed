"""What the flags of a classification select: its columns and its task."""

import pytest

import modeling
from command_line.config_values import create_config
from command_line.flags import ParsedCommand
from data.text.tokenization import FullTokenizer
from tests.support.paths import SAMPLES
from tests.support.tables.csv_files import write_csv
from training.config.classifier_config import ClassifierConfig
from training.preparation.starting_point import StartingPoint
from training.tasks.classifier import ClassifierTask
from training.tasks.classifier_setup import (
    create_classification_sets,
    decide_columns,
    load_task,
)


def create_start(**options):
    """Returns the start of a command, for which no weights are read."""
    return StartingPoint(
        parsed=parse_options(**options),
        preset=None,
        bert_config=modeling.BertConfig(vocab_size=100),
        tokenizer=FullTokenizer(SAMPLES / "vocab.txt"),
    )


def parse_options(**options):
    """Returns the flags of a command that sets `options`."""
    config = create_config(ClassifierConfig, output_dir="", **options)
    return ParsedCommand(config, options)


def test_only_create_task_reads_the_sets_of_a_task(tmp_path):
    start = create_start(
        task_name="csv", data_dir=str(tmp_path / "absent"), do_train=True
    )
    classification_sets = create_classification_sets(start)
    created = ClassifierTask(
        start,
        "csv",
        start.config.classifier,
        classification_sets,
        labels=["a", "b"],
        num_texts=1,
        class_weights={},
    )
    assert created.labels == ["a", "b"]
    with pytest.raises(FileNotFoundError, match="there is no train set"):
        load_task(start, classification_sets)


def test_a_command_without_a_data_file_opens_none():
    parsed = parse_options(task_name="MRPC", data_dir="absent")
    assert decide_columns(parsed) == (parsed, None)


def test_columns_that_no_flag_names_are_found(tmp_path):
    path = tmp_path / "table.csv"
    write_csv(path, ["Review", "Label"], [("a boat", "yes"), ("a", "no")])
    parsed, table = decide_columns(
        parse_options(
            task_name="csv", data_file=str(path), text_column="Review"
        )
    )
    assert parsed.config.table.text_column == "Review"
    assert parsed.config.table.label_column == "Label"
    assert table is not None


def test_rare_classes_weigh_more(tmp_path):
    rows = [("a boat", "no")] * 3 + [("a man", "yes")]
    write_csv(tmp_path / "train.csv", ["text", "label"], rows)
    start = create_start(
        task_name="csv",
        data_dir=str(tmp_path),
        do_train=True,
        class_weights="balanced",
    )
    task = load_task(start, create_classification_sets(start))
    expected = {"no": pytest.approx(4 / 6), "yes": pytest.approx(4 / 2)}
    assert task.settings["class_weights"] == expected


def test_weights_of_classes_are_not_for_numbers(tmp_path):
    write_csv(tmp_path / "train.csv", ["text", "label"], [("a boat", "1.5")])
    start = create_start(
        task_name="csv",
        data_dir=str(tmp_path),
        do_train=True,
        class_weights="balanced",
        output_mode="regression",
    )
    with pytest.raises(ValueError, match="--class_weights is not for regress"):
        load_task(start, create_classification_sets(start))
