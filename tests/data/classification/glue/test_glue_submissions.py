"""The files of predictions for GLUE's site."""

import pytest

from data.classification.glue import glue_submissions


@pytest.mark.parametrize(
    ("task", "file"),
    [
        ("ax", "AX.tsv"),
        ("cola", "CoLA.tsv"),
        ("mnli", "MNLI-m.tsv"),
        ("mnli-mm", "MNLI-mm.tsv"),
        ("sst-2", "SST-2.tsv"),
    ],
)
def test_submission_file_has_the_name_that_the_site_expects(task, file):
    assert glue_submissions.submission_file(task) == file


@pytest.mark.parametrize("task", ["xnli", "csv"])
def test_submission_file_is_only_for_tasks_of_glue(task):
    with pytest.raises(
        ValueError, match=f"--glue_submission is not for {task}"
    ):
        glue_submissions.submission_file(task)


def test_write_submission_names_the_label_of_each_example(tmp_path):
    labels = ["entailment", "not_entailment"]
    glue_submissions.write_submission(tmp_path, "rte", labels)
    expected = "index\tprediction\n0\tentailment\n1\tnot_entailment\n"
    assert (tmp_path / "RTE.tsv").read_text() == expected


def test_write_submission_clips_scores_to_0_and_5(tmp_path):
    glue_submissions.write_submission(tmp_path, "sts-b", [2.25, -0.1, 5.4])
    lines = (tmp_path / "STS-B.tsv").read_text().splitlines()
    assert lines[1:] == ["0\t2.250", "1\t0.000", "2\t5.000"]
