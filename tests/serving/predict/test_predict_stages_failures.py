"""What predict.py leaves of an output if it fails, and when it replaces one."""

import resource
import sys
import types

import pytest

from data.predictions.output_rows import OutputRow
from serving.predict import predict_stages
from tests.support import output_files


@pytest.fixture
def break_replying(work_folder, monkeypatch):
    """A function that makes the command fail after the first reply."""

    def fail(*arguments, **options):
        yield [OutputRow({"label": "yes"})]
        raise OSError("the disk is full")

    return lambda: monkeypatch.setattr(predict_stages, "reply_to_rows", fail)


def test_an_earlier_output_stays_while_rows_get_replies(
    work_folder, classify, monkeypatch
):
    (work_folder / "kept.jsonl").write_text("earlier")

    def reply_to_rows(*arguments, **options):
        yield [OutputRow({"label": "yes"})]
        assert (work_folder / "kept.jsonl").read_text() == "earlier"

    monkeypatch.setattr(predict_stages, "reply_to_rows", reply_to_rows)
    classify(input_file="in.csv", output_file="kept.jsonl")
    (reply,) = output_files.read_json_lines(work_folder / "kept.jsonl")
    assert reply == {"label": "yes"}


def test_an_earlier_output_stays_if_the_command_fails(
    work_folder, classify, break_replying
):
    (work_folder / "kept.jsonl").write_text("earlier")
    break_replying()
    with pytest.raises(OSError, match=r"disk is full"):
        classify(input_file="in.csv", output_file="kept.jsonl")
    assert (work_folder / "kept.jsonl").read_text() == "earlier"


def test_a_command_that_fails_leaves_no_part_of_an_output(
    work_folder, classify, break_replying
):
    break_replying()
    with pytest.raises(OSError, match=r"disk is full"):
        classify(input_file="in.csv", output_file="new.csv")
    assert not [*work_folder.glob("new*"), *work_folder.glob("*.partial*")]


def test_a_complete_output_replaces_an_earlier_one(
    work_folder, classify, reviews
):
    (work_folder / "kept.jsonl").write_text("earlier")
    classify(input_file="in.csv", output_file="kept.jsonl")
    replies = output_files.read_json_lines(work_folder / "kept.jsonl")
    assert len(replies) == len(reviews)


def test_a_full_disk_is_named(classify):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (99, hard))
    try:
        with pytest.raises(OSError, match=r"File too large: .*full\.jsonl"):
            classify(input_file="in.csv", output_file="full.jsonl")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_standard_output_is_named(classify, monkeypatch):
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(buffer=full))
        with pytest.raises(OSError, match="standard output"):
            classify(input_file="in.csv")
