"""The setup of a job, and the model that its processes load."""

import dataclasses
import os

import pytest

import serving
from data.tables.file_ranges import FileRange
from data.tables.table_layout import LayoutOptions
from serving.predict.bulk_setup import (
    BulkInput,
    BulkModel,
    BulkOutput,
    BulkSetup,
)
from serving.text_tasks.text_task import ReplyOptions

MODEL = BulkModel(
    folder="model", checksum="0123abcd", engine="litert", num_threads=1
)
INPUT = BulkInput(
    format=None,
    layout_options=LayoutOptions(),
    text_columns=("text", None),
    has_several_files=False,
)


def create_setup(working_folder, model=MODEL):
    """Returns a setup, by default of a model that does not exist."""
    return BulkSetup(
        model=model,
        text_task_name="classify",
        reply_options=ReplyOptions(min_probability=0.5),
        batch_size=8,
        input=INPUT,
        output=BulkOutput(format="jsonl", fields=("label",)),
        working_folder=working_folder,
    )


@pytest.fixture
def setup(export_folders, tmp_path):
    """The setup of a job with a classifier, in a folder of its own."""
    model = serving.load(export_folders["classifier"], engine="litert")
    return create_setup(
        str(tmp_path),
        dataclasses.replace(MODEL, folder=model.path, checksum=model.checksum),
    )


def test_the_flags_name_all_that_determines_the_replies():
    flags = create_setup("/job").flags()
    assert flags["task"] == "classify"
    assert flags["text_column"] == "text"
    assert flags["output_fields"] == ["label"]
    assert flags["min_probability"] == 0.5


def test_the_working_folder_is_not_among_the_recorded_flags():
    assert create_setup("/one").flags() == create_setup("/other").flags()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.csv", os.path.join("/job", "a.csv")),
        ("/data/a.csv", "/data/a.csv"),
        ("gs://bucket/a.csv", "gs://bucket/a.csv"),
    ],
)
def test_relative_paths_begin_at_the_folder_of_the_job(path, expected):
    assert create_setup("/job").absolute_path_of(path) == expected


def test_the_model_is_loaded_once(setup):
    assert setup.load_text_model() is setup.load_text_model()


def test_another_model_than_that_of_the_job_is_refused(setup):
    other = dataclasses.replace(setup.model, checksum="0123abcd")
    changed = dataclasses.replace(setup, model=other)
    with pytest.raises(ValueError, match="another model than when the job"):
        changed.load_text_model()
    with pytest.raises(ValueError, match="another model than when the job"):
        changed.check_model_files()


def test_the_requests_of_a_range_are_read_in_the_folder_of_the_job(
    setup, tmp_path
):
    (tmp_path / "a.csv").write_text("text\na boat\nthe sea\n")
    ranges = [FileRange("a.csv")]
    rows = [*setup.read_input_rows(ranges)]
    assert [row.request["text_a"] for row in rows] == ["a boat", "the sea"]
    assert [row.file for row in rows] == ["", ""]
    several = dataclasses.replace(INPUT, has_several_files=True)
    setup = dataclasses.replace(setup, input=several)
    row, _ = setup.read_input_rows(ranges)
    assert row.file == "a.csv"
