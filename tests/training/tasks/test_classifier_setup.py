"""What the flags of a classification select: its columns and its task."""

import dataclasses
import os
from pathlib import Path

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from model_folders.reading.preset import read_preset
from options.parsed_command import ParsedCommand
from tests.support.paths import SAMPLES
from tests.support.tables.csv_files import write_csv
from training.config.classifier_config import ClassifierConfig
from training.preparation.data_file_decisions import decide_by_rows
from training.starting_point import InitialFolder, StartingPoint
from training.tasks.classifier import ClassifierTask
from training.tasks.classifier_setup import (
    decide_columns,
    load_task,
    open_data_file,
    open_processor,
)


def create_starting_point(**options):
    """Returns the start of a command, for which no weights are read."""
    return StartingPoint(
        parsed=parse_options(**options),
        initial_folder=InitialFolder(),
        bert_config=modeling.BertConfig(vocab_size=100),
        tokenizer=FullTokenizer(SAMPLES / "vocab.txt"),
    )


def parse_options(**options):
    """Returns the flags of a command that sets `options`."""
    config = ClassifierConfig.from_values(output_dir="", **options)
    return ParsedCommand(config, options)


def test_the_class_of_a_task_reads_no_set_but_load_task_does(tmp_path):
    starting_point = create_starting_point(
        task_name="csv", data_dir=str(tmp_path / "absent"), do_train=True
    )
    processor = open_processor(starting_point, table=None)
    created = ClassifierTask(
        starting_point,
        processor,
        labels=["a", "b"],
        num_texts=1,
        exported_num_texts=1,
        class_weights={},
    )
    assert created.labels == ["a", "b"]
    with pytest.raises(FileNotFoundError, match="there is no train set"):
        load_task(starting_point, processor)


def test_a_command_without_a_data_file_opens_none():
    parsed = parse_options(task_name="MRPC", data_dir="absent")
    with open_data_file(parsed.config) as table:
        assert table is None
        assert decide_columns(parsed, table) is parsed


def test_columns_that_no_flag_names_are_found(tmp_path):
    path = tmp_path / "table.csv"
    write_csv(path, ["Review", "Label"], [("a boat", "yes"), ("a", "no")])
    parsed = parse_options(
        task_name="csv", data_file=str(path), text_column="Review"
    )
    with open_data_file(parsed.config) as table:
        assert table.path == str(path)
        parsed = decide_columns(parsed, table)
    assert parsed.config.columns.text_column == "Review"
    assert parsed.config.columns.label_column == "Label"


def test_a_table_of_numbered_columns_is_not_read_yet(tmp_path):
    path = str(tmp_path / "absent.csv")
    parsed = parse_options(task_name="csv", data_file=path, text_column="1")
    with open_data_file(parsed.config) as table:
        assert decide_columns(parsed, table) is parsed
    assert table.path == path


def test_the_usual_columns_of_pairs_need_no_header(tmp_path):
    path = str(tmp_path / "absent.csv")
    parsed = parse_options(task_name="embedding", data_file=path)
    with open_data_file(parsed.config) as table:
        assert table is None


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no /proc")
def test_an_error_after_the_header_closes_the_data_file(tmp_path):
    path = tmp_path / "table.csv"
    rows = [(f"a boat {i}", "ab"[i % 2]) for i in range(5000)]
    write_csv(path, ["text", "label"], rows)
    parsed = parse_options(task_name="csv", data_file=str(path))

    def is_open():
        files = Path("/proc/self/fd").iterdir()
        return any(os.path.realpath(file) == str(path) for file in files)

    def fail():
        with open_data_file(parsed.config) as table:
            decide_columns(parsed, table)
            assert is_open()
            raise ValueError("no weights")

    with pytest.raises(ValueError, match="no weights"):
        fail()
    assert not is_open()


def test_the_rows_of_a_folder_leave_the_start_as_it_is(tmp_path):
    starting_point = create_starting_point(
        task_name="mrpc", data_dir=str(tmp_path)
    )
    processor = open_processor(starting_point, table=None)
    assert decide_by_rows(starting_point, processor.sets) is starting_point


def test_a_task_of_glue_does_not_read_a_data_file(tmp_path):
    starting_point = create_starting_point(
        task_name="mrpc", data_file=str(tmp_path / "absent"), do_train=True
    )
    processor = open_processor(starting_point, table=None)
    assert decide_by_rows(starting_point, processor.sets) is starting_point


def test_a_small_data_file_is_trained_on_for_more_epochs(tmp_path):
    path = tmp_path / "table.csv"
    rows = [(f"a boat {i}", "ab"[i % 2]) for i in range(40)]
    write_csv(path, ["text", "label"], rows)
    starting_point = create_starting_point(
        task_name="csv", data_file=str(path), do_train=True
    )
    processor = open_processor(starting_point, table=None)
    decided = decide_by_rows(starting_point, processor.sets)
    before = starting_point.config.fine_tuning.num_train_epochs
    assert decided.config.fine_tuning.num_train_epochs > before


def test_rare_classes_weigh_more(tmp_path, caplog):
    caplog.set_level("INFO")
    rows = [("a boat", "no")] * 3 + [("a man", "yes")]
    write_csv(tmp_path / "train.csv", ["text", "label"], rows)
    starting_point = create_starting_point(
        task_name="csv",
        data_dir=str(tmp_path),
        do_train=True,
        class_weights="balanced",
    )
    task = load_task(starting_point, open_processor(starting_point, table=None))
    expected = {"no": pytest.approx(4 / 6), "yes": pytest.approx(4 / 2)}
    assert task.fixed_head_settings["class_weights"] == expected
    assert "Class weights: no 0.667, yes 2.000" in caplog.text


def test_weights_of_classes_are_not_for_numbers(tmp_path):
    write_csv(tmp_path / "train.csv", ["text", "label"], [("a boat", "1.5")])
    starting_point = create_starting_point(
        task_name="csv",
        data_dir=str(tmp_path),
        do_train=True,
        class_weights="balanced",
        output_mode="regression",
    )
    with pytest.raises(ValueError, match="--class_weights is not for regress"):
        load_task(starting_point, open_processor(starting_point, table=None))


def test_weights_of_classes_are_refused_before_a_set_is_read(tmp_path):
    write_csv(tmp_path / "train.csv", ["text", "label"], [("a boat", "red")])
    starting_point = create_starting_point(
        task_name="csv",
        data_dir=str(tmp_path),
        do_train=True,
        class_weights="balanced",
        output_mode="multilabel",
    )
    processor = open_processor(starting_point, table=None)
    (tmp_path / "train.csv").unlink()
    with pytest.raises(ValueError, match="--class_weights is not for multil"):
        load_task(starting_point, processor)


def test_an_export_of_a_regression_does_not_limit_its_texts(tmp_path):
    write_csv(tmp_path / "train.csv", ["text", "label"], [("a boat", "1.5")])
    starting_point = create_starting_point(
        task_name="csv",
        data_dir=str(tmp_path),
        do_train=True,
        output_mode="regression",
    )
    task = load_task(starting_point, open_processor(starting_point, table=None))
    assert task.fixed_head_settings["num_texts"] == 1
    assert task.head_settings["num_texts"] is None


@pytest.fixture
def create_cls_embedding(tmp_path):
    """A function (**flags) -> task of weights whose vectors are of [CLS]."""
    (tmp_path / "1_Pooling").mkdir()
    config = '{"pooling_mode_cls_token": true}'
    (tmp_path / "1_Pooling/config.json").write_text(config)
    write_csv(tmp_path / "train.csv", ["text", "text_b"], [("a", "b")])

    def create_cls_embedding(**flags):
        starting_point = dataclasses.replace(
            create_starting_point(
                task_name="embedding",
                data_dir=str(tmp_path),
                text_b_column="text_b",
                **flags,
            ),
            initial_folder=InitialFolder(read_preset(tmp_path)),
        )
        return load_task(
            starting_point, open_processor(starting_point, table=None)
        )

    return create_cls_embedding


def test_another_pooling_is_warned_of_before_an_export(
    create_cls_embedding, caplog
):
    create_cls_embedding()
    assert "pooling_mode_cls_token" in caplog.text


def test_a_training_may_change_the_pooling(create_cls_embedding, caplog):
    create_cls_embedding(do_train=True)
    assert "pooling_mode_cls_token" not in caplog.text
