"""Files of results that a run leaves as they were, and tables of scores."""

import logging
import os

from training import results

WRITTEN = ["predictions.json", "nbest_predictions.json"]
OPTIONAL = ["null_odds.json", "report.html", "test_eval_results.txt"]


def test_what_a_run_leaves_as_it_was_is_named_and_kept(tmp_path, caplog):
    for name in [*WRITTEN, *OPTIONAL, "eval_results.txt", "my_notes.html"]:
        (tmp_path / name).write_text("old")
    files = results.ResultFiles(tmp_path)
    for name in WRITTEN:
        # Even where the content and its time are the same.
        times = os.stat(tmp_path / name)
        (tmp_path / "new").write_text("old")
        os.utime(tmp_path / "new", ns=(times.st_atime_ns, times.st_mtime_ns))
        os.replace(tmp_path / "new", tmp_path / name)
    with caplog.at_level(logging.WARNING, logger="absl"):
        files.warn_of_left()
    (line,) = (record.getMessage() for record in caplog.records)
    assert ", ".join(OPTIONAL) in line and str(tmp_path) in line
    assert not any(name in line for name in ["my_notes", *WRITTEN])
    assert all((tmp_path / name).read_text() == "old" for name in OPTIONAL)

    caplog.clear()
    files = results.ResultFiles(tmp_path, ["eval_results.txt"])
    for name in [*WRITTEN, *OPTIONAL]:
        (tmp_path / name).unlink()
    files.warn_of_left()
    (line,) = (record.getMessage() for record in caplog.records)
    assert "eval_results.txt" in line and "predictions" not in line


def test_nothing_is_said_of_a_new_folder(tmp_path, caplog):
    files = results.ResultFiles(tmp_path / "new")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "predictions.json").write_text("new")
    files.warn_of_left()
    assert not caplog.records


def test_scores_of_single_labels_are_rows_of_a_table():
    scores = {
        "accuracy": 0.5,
        "global_step": 12,
        "HasAns_f1": 0.25,
        **{f"not_{rate}_mm": 0.75 for rate in results.RATES},
        **{f"a b_{rate}": 1.0 for rate in results.RATES},
    }
    assert results.format_results(scores).splitlines() == [
        "  accuracy        0.5000",
        "  global_step         12",
        "  HasAns_f1       0.2500",
        "  label        precision     recall         f1",
        "  not_mm          0.7500     0.7500     0.7500",
        "  a b             1.0000     1.0000     1.0000",
    ]


def test_scores_of_an_export_are_no_label():
    overall = {f"saved_model_{rate}": 0.5 for rate in results.RATES}
    rows = {f"saved_model_LOC_{rate}": 0.75 for rate in results.RATES}
    label = dict.fromkeys(results.RATES, 0.75)
    found = results.split_by_label(overall | rows)
    assert found == (overall, {"saved_model_LOC": label})
