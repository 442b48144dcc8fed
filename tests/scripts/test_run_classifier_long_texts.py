"""run_classifier.py --doc_stride on texts whose last word alone tells."""

import re
import shutil

import numpy as np
import pytest

import serving
from tests.support import script_runner
from tests.support.output_files import read_json_lines, read_results
from tests.support.paths import SAMPLES
from tests.support.report_page import ReportPage
from tests.support.script_runner import check_refusals, split_flags
from tests.support.tasks import task_files
from tests.support.tasks.task_runs import (
    check_resume,
    fine_tuning_flags,
    run_task_test,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def flags(tmp_path_factory, tiny):
    """Flags of runs that read windows, and write an export."""
    folder = tmp_path_factory.mktemp("long")
    task_files.write_long_texts(folder / "data")
    flags = split_flags("""
        --task_name=csv --max_seq_length=16 --doc_stride=7 --report
        --train_batch_size=16 --learning_rate=3e-3 --num_train_epochs=8
    """)
    flags |= {"output_dir": folder / "run", "export_dir": folder / "export"}
    return fine_tuning_flags(folder / "data", tiny / "one_block", **flags)


@pytest.fixture(scope="module")
def trained_run(flags):
    """Result of the run, which has ended."""
    return run_task_test("run_classifier.py", flags, "eval_accuracy")


@pytest.fixture
def predictions(trained_run, flags):
    """The lines that the run predicted for its test set, which is its dev set.

    It depends on `trained_run`, because the run writes them.
    """
    return read_json_lines(flags["output_dir"] / "predictions.jsonl")


def count_records(done, name, num_examples):
    """Returns how many records a run made of the examples of a set."""
    found = re.search(
        rf"The {name} set: {num_examples} examples in ([\d,]+) ", done.stderr
    )
    return int(found[1])


@pytest.mark.parametrize(("name", "num_texts"), [("train", 96), ("dev", 40)])
def test_a_text_becomes_several_records(trained_run, name, num_texts):
    assert count_records(trained_run, name, num_texts) > 3 * num_texts


def test_texts_that_are_cut_are_counted(trained_run):
    assert "96 of 96 texts" in trained_run.stderr


def test_an_epoch_has_a_record_for_each_window(trained_run, flags):
    num_records = count_records(trained_run, "train", 96)
    num_epochs, batch_size = 8, 16
    steps = read_results(flags["output_dir"])["global_step"]
    assert steps == num_records * num_epochs // batch_size


def test_predictions_are_of_texts(predictions):
    right = [row["label"] == row["gold_label"] for row in predictions]
    assert len(right) == 40
    assert np.mean(right) > 0.9


def test_the_loss_is_that_of_the_pooled_logits_of_texts(predictions, flags):
    scores = [row["probabilities"][row["gold_label"]] for row in predictions]
    loss = read_results(flags["output_dir"])["eval_loss"]
    assert loss == pytest.approx(-np.mean(np.log(scores)), abs=1e-5)


def test_the_report_shows_the_wrong_texts(predictions, flags):
    wrong = [row for row in predictions if row["label"] != row["gold_label"]]
    page = ReportPage((flags["output_dir"] / "report.html").read_text("utf-8"))
    assert len(page.wrong) == len(wrong)


def check_answers(flags, engine=None):
    """Compares an export's answers with the run's predictions."""
    bert = serving.load(flags["export_dir"], engine=engine)
    # The export accepts no second text.
    assert bert.head_settings["num_texts"] == 1
    rows = read_json_lines(flags["output_dir"] / "predictions.jsonl")
    answers = bert.classify([row["text_a"] for row in rows])
    for row, answer in zip(rows, answers, strict=True):
        assert "num_wordpieces_cut" not in answer
        if "value" in answer:
            assert answer["value"] == pytest.approx(row["label"], abs=1e-4)
            continue
        assert answer["label"] == row["label"]
        expected = pytest.approx(row["probabilities"], abs=1e-4)
        assert answer["probabilities"] == expected


def test_the_export_answers_as_the_run(trained_run, flags):
    check_answers(flags, "saved_model")


def test_a_killed_run_resumes_to_the_same_bits(trained_run, flags):
    check_resume("run_classifier.py", flags)


@pytest.fixture
def evaluating(trained_run, flags):
    """Flags of a command that only evaluates the weights of the run."""
    return {
        "do_eval": True,
        "task_name": "csv",
        "data_dir": flags["data_dir"],
        "init_checkpoint": flags["output_dir"],
        "output_dir": "evaluated",
    }


def test_an_evaluation_reads_the_windows_of_the_run(
    evaluating, flags, tmp_path
):
    script_runner.run("run_classifier.py", tmp_path, **evaluating).check()
    expected = read_results(flags["output_dir"])["eval_loss"]
    loss = read_results(tmp_path / "evaluated")["eval_loss"]
    assert loss == pytest.approx(expected, rel=1e-4)


def test_a_doc_stride_of_0_cuts_the_texts_of_an_evaluation(
    evaluating, tmp_path
):
    evaluating |= {"doc_stride": 0}
    script_runner.run("run_classifier.py", tmp_path, **evaluating).check()
    # The label of a text is in its end, which is cut off.
    assert read_results(tmp_path / "evaluated")["eval_accuracy"] < 0.8


@pytest.mark.usefixtures("trained_run")
@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        pytest.param("--doc_stride=5", ["--doc_stride=7"], id="a resume"),
        pytest.param(
            f"--output_dir=new --task_name=mrpc --data_dir={SAMPLES}/glue",
            ["pairs"],
            id="a task of pairs",
        ),
    ],
)
def test_a_doc_stride_that_does_not_fit_is_refused(
    changes, parts, flags, tmp_path
):
    flags = flags | {"export_dir": None}
    cases = [(changes, *parts)]
    check_refusals(tmp_path, "run_classifier.py", flags, cases)


@pytest.mark.parametrize(
    ("mode", "metric"),
    [("multilabel", "eval_accuracy"), ("regression", "pearson")],
)
def test_windows_of_a_text_share_its_labels_or_number(
    mode, metric, flags, tmp_path
):
    for name in ("train", "dev"):
        table = (flags["data_dir"] / f"{name}.csv").read_text()
        if mode == "regression":
            table = table.replace(",red", ",1.5").replace(",blue", ",0")
        else:
            table = table.replace(",red", ',"red,warm"')
        (tmp_path / f"{name}.csv").write_text(table)
    shutil.copy(tmp_path / "dev.csv", tmp_path / "test.csv")
    flags = flags | {
        "data_dir": tmp_path,
        "output_mode": mode,
        "output_dir": tmp_path / "run",
        "export_dir": tmp_path / "export",
        "export_format": "litert",
    }
    run_task_test("run_classifier.py", flags, metric, "litert")
    assert read_results(tmp_path / "run")[metric] > 0.5
    check_answers(flags)
