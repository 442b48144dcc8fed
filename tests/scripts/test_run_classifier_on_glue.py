"""run_classifier.py on GLUE's other tasks and on tables."""

import json
import math
import shutil

import pytest

from model_folders.reading.preset import read_preset
from tests.support import script_runner
from tests.support.checkpoints import read_checkpoint
from tests.support.output_files import read_results
from tests.support.paths import SAMPLES
from tests.support.script_runner import split_flags
from tests.support.tables.csv_files import read_csv
from tests.support.tasks import task_files
from tests.support.tasks.task_runs import read_predictions, run_task_test

pytestmark = pytest.mark.slow

LABELS = ("contradiction", "entailment", "neutral")


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny):
    """{name: flags} of three trainings."""
    folder = tmp_path_factory.mktemp("runs")
    task_files.write_regression(folder / "sts-b-data")
    task_files.write_mnli(folder / "mnli-data")
    task_files.write_table(folder / "csv-data")
    changes = {
        "sts-b": "--do_predict --glue_submission --num_train_epochs=2",
        "mnli": """
            --early_stopping_patience=1 --class_weights=balanced
            --left_to_right --bilstm --export_format=saved_model
        """,
        "csv": """
            --do_predict --output_mode=multilabel --text_column=review
            --label_column=colours --label_separator=| --report
        """,
    }
    flags = split_flags(f"""
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file={SAMPLES}/vocab.txt --max_seq_length=24
        --train_batch_size=4 --num_train_epochs=1 --learning_rate=1e-3
        --do_train --do_eval --export_format=litert
    """)
    return {
        name: {
            **flags,
            "task_name": name,
            "data_dir": folder / f"{name}-data",
            "output_dir": folder / name,
            "export_dir": folder / f"{name}_export",
            **split_flags(more),
        }
        for name, more in changes.items()
    }


METRICS = {"sts-b": "pearson", "mnli": "eval_accuracy_mm", "csv": "f1_micro"}


@pytest.fixture(scope="module")
def finished(runs):
    """The folder of the finished runs, which no test changes."""
    for name, flags in runs.items():
        export_format = flags["export_format"]
        run_task_test("run_classifier.py", flags, METRICS[name], export_format)
    return runs["csv"]["output_dir"].parent


def label_scores(labels, *suffixes):
    """Returns the names of the scores of single labels."""
    rates = ("precision", "recall", "f1", "support")
    return {
        f"{label}_{rate}{suffix}"
        for label in labels
        for rate in rates
        for suffix in suffixes
    }


def test_the_results_of_a_regression_are_correlations(finished):
    names = {"eval_loss", "global_step", "pearson", "spearman"}
    assert read_results(finished / "sts-b").keys() == names


def test_a_regression_predicts_numbers(finished):
    folder = finished / "sts-b"
    table, lines = read_predictions(folder)
    assert [entry["label"] for entry in lines] == pytest.approx(table[:, 0])
    # GLUE's test sets have no labels.
    assert lines[0].keys() == {"guid", "text_a", "text_b", "label"}
    assert not (folder / "labels.txt").exists()


def test_the_submission_of_a_regression_contains_scores_from_0_to_5(finished):
    lines = (finished / "sts-b/STS-B.tsv").read_text().splitlines()[1:]
    assert lines
    assert all(0 <= float(line.split("\t")[1]) <= 5 for line in lines)


def test_multinli_is_evaluated_on_both_sets_with_an_lstm(finished):
    folder = finished / "mnli"
    results = read_results(folder)
    names = {"eval_accuracy", "eval_loss"}
    names |= {f"{name}_mm" for name in names}
    names |= label_scores(LABELS, "", "_mm")
    assert results.keys() == names | {"global_step"}
    # Four examples of each label.
    head = read_preset(folder).training_settings.head
    assert head["class_weights"] == dict.fromkeys(LABELS, 1.0)
    # Three variables of each direction.
    named = [
        name
        for name in read_checkpoint(folder)
        if "lstm" in name and "adam" not in name
    ]
    assert len(named) == 6


def test_several_labels_each_are_learned(finished):
    folder = finished / "csv"
    assert (folder / "labels.txt").read_text() == "blue\nred\n"
    # The loss of a model that knows nothing is log 2 a label.
    assert abs(read_results(folder)["eval_loss"] - math.log(2)) < 0.5


def test_several_labels_each_are_predicted_beside_the_right_ones(
    finished, runs
):
    table, lines = read_predictions(finished / "csv")
    rows = read_csv(runs["csv"]["data_dir"] / "test.csv")
    for probabilities, entry, row in zip(table, lines, rows, strict=True):
        assert list(entry["probabilities"]) == ["blue", "red"]
        probability_of_label = entry["probabilities"]
        assert [*probability_of_label.values()] == pytest.approx(probabilities)
        assert entry["label"] == [
            label
            for label, probability in probability_of_label.items()
            if probability > 0.5
        ]
        assert entry["text_a"] == row["review"]
        assert entry["gold_label"] == row["colours"].split("|")


# Flags of a later command that only predicts.
PREDICTING = {
    "do_train": False,
    "do_eval": False,
    "do_predict": True,
    "export_dir": None,
    "export_format": None,
    "report": False,
}


def test_a_test_set_may_have_labels_for_some_examples(finished, runs, tmp_path):
    """There is no train set, and of the three examples one has a label."""
    folder = shutil.copytree(finished / "csv", tmp_path / "csv")
    rows = read_csv(runs["csv"]["data_dir"] / "test.csv")[:3]
    rows[1]["colours"] = ["red"]
    del rows[0]["colours"]
    rows[2]["colours"] = None
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    flags = runs["csv"] | PREDICTING
    flags |= {"data_dir": tmp_path, "output_dir": folder}
    done = script_runner.run("run_classifier.py", tmp_path, **flags).check()
    _, lines = read_predictions(folder)
    assert ["gold_label" in line for line in lines] == [False, True, False]
    scores = read_results(folder, "test_eval_results.txt")
    assert scores["num_without_label"] == 2
    assert "2 of 3 test examples have no label" in done.stderr


def test_a_model_of_multinli_predicts_the_diagnostic_set(
    finished, runs, tmp_path
):
    flags = runs["mnli"] | PREDICTING
    flags |= split_flags(f"""
        --task_name=ax --glue_submission --early_stopping_patience=0
        --init_checkpoint={finished}/mnli/best --output_dir={tmp_path}/ax
    """)
    script_runner.run("run_classifier.py", tmp_path, **flags).check()
    submission = (tmp_path / "ax" / "AX.tsv").read_text().splitlines()
    assert len(submission) == 3
    assert submission[1].split("\t")[1] in LABELS
