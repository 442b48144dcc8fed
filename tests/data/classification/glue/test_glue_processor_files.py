"""The sets of a task of GLUE, read from small files that a test writes.

test_glue_tasks.py reads GLUE's own files, and test_glue_layouts.py those of
mirrors.
"""

import pytest

from data.classification.glue.glue_processor import GlueSets
from data.classification.glue.glue_tasks import GlueTaskDefinition, define_xnli
from tests.support.tables.csv_files import write_tsv


def contents_of(examples):
    """Returns (guid, first text, second text, label) of examples."""
    return [
        (example.guid, example.text_a, example.text_b, example.label)
        for example in examples
    ]


def test_columns_are_found_by_their_names(tmp_path):
    write_tsv(tmp_path, "train.tsv", "label|sentence2|x|sentence1", "1|b|-|a")
    sets = GlueSets(GlueTaskDefinition(), tmp_path)
    assert contents_of(sets.read("train")) == [("train-1", "a", "b", "1")]


def test_columns_are_found_by_their_numbers(tmp_path):
    write_tsv(tmp_path, "train.tsv", "any|header|here", "1|a|b")
    sets = GlueSets(
        GlueTaskDefinition(text_columns=(1, 2), label_column=0), tmp_path
    )
    assert contents_of(sets.read("train")) == [("train-1", "a", "b", "1")]


def test_only_a_test_set_has_a_header_if_the_task_has_none(tmp_path):
    write_tsv(tmp_path, "dev.tsv", "source|0||fine")
    write_tsv(tmp_path, "test.tsv", "index|sentence", "0|new")
    sets = GlueSets(
        GlueTaskDefinition(text_columns=(3,), label_column=1, has_header=False),
        tmp_path,
    )
    assert contents_of(sets.read("dev")) == [("dev-0", "fine", None, "0")]
    (example,) = sets.read("test")
    assert (example.guid, example.text_a) == ("test-1", "new")


def test_numbers_are_the_labels_of_the_hub(tmp_path):
    write_tsv(
        tmp_path, "dev.tsv", "sentence1|sentence2|label", "a|b|0", "c|d|1"
    )
    sets = GlueSets(
        GlueTaskDefinition(labels=("n", "y"), hub_labels=("y", "n")), tmp_path
    )
    assert [example.label for example in sets.read("dev")] == ["y", "n"]


def test_a_label_of_regression_is_a_number(tmp_path):
    write_tsv(tmp_path, "dev.tsv", "sentence1|sentence2|score", "a|b|2.5")
    sets = GlueSets(
        GlueTaskDefinition(
            labels=None, output_mode="regression", label_column="score"
        ),
        tmp_path,
    )
    assert contents_of(sets.read("dev")) == [("dev-1", "a", "b", 2.5)]


def test_a_short_line_is_an_error_that_names_it(tmp_path):
    write_tsv(tmp_path, "dev.tsv", "sentence1|sentence2|label", "a|b|0", "a|b")
    sets = GlueSets(GlueTaskDefinition(), tmp_path)
    with pytest.raises(ValueError, match=r"dev\.tsv, line 3: .*few columns"):
        sets.read("dev")


@pytest.mark.parametrize("lines", [(), ("sentence1|sentence2|label",)])
def test_a_file_without_an_example_is_an_error(tmp_path, lines):
    write_tsv(tmp_path, "dev.tsv", *lines)
    with pytest.raises(ValueError, match=r"dev\.tsv contains no example"):
        GlueSets(GlueTaskDefinition(), tmp_path).read("dev")


def test_a_missing_set_is_an_error_that_names_the_folder(tmp_path):
    with pytest.raises(OSError, match=f"there is no train set in {tmp_path}"):
        GlueSets(GlueTaskDefinition(), tmp_path).read("train")


def test_xnli_reads_the_rows_of_one_language(tmp_path):
    rows = [f"{code}|neutral|||||{code} a|b" for code in ("de", "fr")]
    write_tsv(tmp_path, "xnli.dev.tsv", "header", *rows)
    (example,) = GlueSets(define_xnli("fr"), tmp_path).read("dev")
    assert (example.text_a, example.text_b, example.label) == (
        "fr a",
        "b",
        "neutral",
    )


def test_has_set_looks_for_the_file_of_a_set(tmp_path):
    (tmp_path / "dev.tsv").write_text("sentence1\tsentence2\tlabel\na\tb\t1\n")
    sets = GlueSets(GlueTaskDefinition(), tmp_path)
    assert sets.has_set("dev")
    assert not sets.has_set("test")
