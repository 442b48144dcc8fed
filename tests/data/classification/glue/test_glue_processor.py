"""The labels of a task of GLUE, and MultiNLI, which has mismatched sets."""

import pytest

from data.classification.glue.glue_processor import create_glue_processor
from tests.support.tables.csv_files import write_tsv


def test_xnli_has_labels_of_inference(tmp_path):
    processor = create_glue_processor("xnli", tmp_path, "de")
    assert processor.sets.read_labels() == [
        "contradiction",
        "entailment",
        "neutral",
    ]


MNLI_COLUMNS = "premise|hypothesis|label"


@pytest.fixture
def mnli(tmp_path):
    """The processor of MultiNLI, whose mismatched dev set is missing."""
    for name in ("train", "dev_matched", "test_matched"):
        write_tsv(tmp_path, f"{name}.tsv", MNLI_COLUMNS, f"{name}|b|neutral")
    return create_glue_processor("mnli", tmp_path, "zh")


def test_multinli_has_mismatched_sets(mnli):
    assert mnli.dev_sets == ("dev", "dev_mm")
    assert mnli.test_sets == ("test", "test_mm")


def test_take_reads_the_set_of_its_name(mnli):
    (example,) = mnli.take("dev")
    assert (example.text_a, example.label) == ("dev_matched", "neutral")


def test_take_of_a_missing_mismatched_set_is_none(mnli):
    assert mnli.take("dev_mm") is None


def test_take_reads_a_mismatched_set(tmp_path, mnli):
    write_tsv(
        tmp_path, "dev_mismatched.tsv", MNLI_COLUMNS, "other|b|entailment"
    )
    (example,) = mnli.take("dev_mm")
    assert (example.text_a, example.label) == ("other", "entailment")


def test_an_example_of_a_test_set_has_no_label(mnli):
    (example,) = mnli.sets.read("test")
    assert example.label is None


def test_a_pair_is_two_texts(mnli):
    assert mnli.num_texts == 2
