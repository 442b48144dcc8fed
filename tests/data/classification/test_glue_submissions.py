"""The files of predictions for GLUE's site."""

from data.classification import glue_submissions


def test_a_submission_names_the_label_of_each_example(tmp_path):
    labels = ["entailment", "not_entailment"]
    glue_submissions.write_submission(tmp_path, "rte", labels)
    expected = "index\tprediction\n0\tentailment\n1\tnot_entailment\n"
    assert (tmp_path / "RTE.tsv").read_text() == expected


def test_scores_of_a_submission_are_between_0_and_5(tmp_path):
    glue_submissions.write_submission(tmp_path, "sts-b", [2.25, -0.1, 5.4])
    lines = (tmp_path / "STS-B.tsv").read_text().splitlines()
    assert lines[1:] == ["0\t2.250", "1\t0.000", "2\t5.000"]
