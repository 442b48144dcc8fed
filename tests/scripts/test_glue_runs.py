"""run_classifier.py on GLUE's other tasks and on tables."""

import csv
import json
import math

import numpy as np
import pytest

from data.classification import metrics
from modeling import presets
from tests import glue_sets, script_runner
from tests.checkpoints import values
from tests.script_runner import parse_flags, read_lines, read_results

pytestmark = pytest.mark.slow

LABELS = ("contradiction", "entailment", "neutral")


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny):
    """The folder of four trainings, by name, and their flags."""
    folder = tmp_path_factory.mktemp("runs")
    glue_sets.write_regression(folder / "sts-b-data")
    glue_sets.write_mnli(folder / "mnli-data")
    glue_sets.write_table(folder / "csv-data")
    flags = parse_flags(f"""
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file={script_runner.SAMPLES}/vocab.txt --max_seq_length=24
        --train_batch_size=4 --num_train_epochs=1 --learning_rate=1e-3
        --do_train
    """)
    changes = {
        "mrpc": f"""
            --data_dir={script_runner.SAMPLES}/glue --num_train_epochs=0.1
            --save_checkpoints_steps=20 --do_eval --do_predict
            --glue_submission --export_weights=given
        """,
        "sts-b": "--do_eval --do_predict --glue_submission",
        "mnli": """
            --do_eval --early_stopping_patience=1 --class_weights=balanced
            --left_to_right --bilstm --export_dir=served_mnli
        """,
        "csv": """
            --do_eval --do_predict --output_mode=multilabel
            --text_column=review --label_column=colours --label_separator=|
            --id_column=id
        """,
    }
    commands = {
        name: flags
        | {"data_dir": folder / f"{name}-data", "output_dir": folder / name}
        | {"task_name": name, **parse_flags(more)}
        for name, more in changes.items()
    }
    script_runner.run_each("run_classifier.py", folder, {}, commands.values())
    return folder, commands


def read_predictions(folder):
    """Returns the table of probabilities, and a dict of each example."""
    table = np.loadtxt(folder / "test_results.tsv", delimiter="\t", ndmin=2)
    return table, read_lines(folder / "predictions.jsonl")


def of_labels(labels, *suffixes):
    """Returns the names of the scores of single labels."""
    rates = ("precision", "recall", "f1")
    return {
        f"{label}_{rate}{suffix}"
        for label in labels
        for rate in rates
        for suffix in suffixes or ("",)
    }


def read_class_weights(folder):
    return presets.read(folder).training["class_weights"]


def test_scores_are_named_and_weights_exported(runs):
    folder = runs[0] / "mrpc"
    results = read_results(folder)
    original = {"eval_accuracy", "eval_loss", "global_step", "loss"}
    names = original | {"accuracy", "f1"} | of_labels("01")
    assert results.keys() == names
    assert results["f1"] == results["1_f1"]
    assert results["accuracy"] == results["eval_accuracy"]
    given = values(runs[0] / "given/bert_model.ckpt")
    assert not any("adam" in name for name in given)
    trained = values(folder, int(results["global_step"]))
    for name, value in given.items():
        np.testing.assert_array_equal(trained[name], value)
    assert sorted(path.name for path in (runs[0] / "given").iterdir()) == [
        "README.md",
        "bert_config.json",
        "bert_model.ckpt.data-00000-of-00001",
        "bert_model.ckpt.index",
        "labels.txt",
        "model.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]


def test_predictions_name_examples_and_labels(runs):
    folder = runs[0] / "mrpc"
    table, lines = read_predictions(folder)
    assert len(table) == len(lines) == 60
    submission = (folder / "MRPC.tsv").read_text().splitlines()
    assert submission[0] == "index\tprediction"
    for i, (row, entry) in enumerate(zip(table, lines, strict=True)):
        assert entry["guid"] == f"test-{i + 1}"
        assert list(entry["probabilities"].values()) == pytest.approx(row)
        assert entry["label"] == "01"[np.argmax(row)]
        assert submission[i + 1] == f"{i}\t{entry['label']}"
    assert (folder / "labels.txt").read_text() == "0\n1\n"


def test_regression_predicts_numbers(runs):
    folder = runs[0] / "sts-b"
    names = {"eval_loss", "global_step", "loss", "pearson", "spearman"}
    assert read_results(folder).keys() == names
    table, lines = read_predictions(folder)
    assert table.shape == (3, 1)
    assert [entry["label"] for entry in lines] == pytest.approx(table[:, 0])
    # GLUE's test sets have no labels.
    assert lines[0].keys() == {"guid", "text_a", "text_b", "label"}
    assert not (folder / "test_eval_results.txt").exists()
    assert not (folder / "labels.txt").exists()
    submission = (folder / "STS-B.tsv").read_text().splitlines()[1:]
    assert [0 <= float(line.split("\t")[1]) <= 5 for line in submission]


def test_multinli_is_evaluated_on_both_sets_with_an_lstm(runs):
    folder = runs[0] / "mnli"
    results = read_results(folder)
    names = {"eval_accuracy", "eval_loss", "loss", "accuracy"}
    names |= {f"{name}_mm" for name in names}
    names |= of_labels(LABELS, "", "_mm")
    assert results.keys() == names | {"global_step"}
    assert presets.best_step_of(folder) == results["global_step"] == 3
    exported = read_results(folder, "export_eval_results.txt")
    assert "saved_model_accuracy_mm" in exported
    for key, value in exported.items():
        expected = results[key.removeprefix("saved_model_")]
        assert value == pytest.approx(expected, abs=1e-4)
    # Four examples of each label.
    assert read_class_weights(folder) == dict.fromkeys(LABELS, 1.0)
    names = [name for name in values(folder) if "lstm" in name]
    # Three of each direction, and the optimizer's of each.
    for kind, count in (("adam_m", 6), ("adam_v", 6), ("", 18)):
        assert len([name for name in names if kind in name]) == count


def test_several_labels_each_are_scored_and_kept(runs):
    folder = runs[0] / "csv"
    assert (folder / "labels.txt").read_text() == "blue\nred\n"
    results = read_results(folder)
    assert {"accuracy", "f1_micro", "f1_macro"} < results.keys()
    # The loss of a model that knows nothing is log 2 a label.
    assert abs(results["eval_loss"] - math.log(2)) < 0.5
    table, lines = read_predictions(folder)
    rows = read_table(runs[0] / "csv-data/test.csv")
    right, predicted = [], []
    for probabilities, entry, row in zip(table, lines, rows, strict=True):
        assert list(entry["probabilities"]) == ["blue", "red"]
        assert list(entry["probabilities"].values()) == pytest.approx(
            probabilities
        )
        chances = entry["probabilities"].items()
        assert entry["label"] == [name for name, one in chances if one > 0.5]
        assert (entry["guid"], entry["text_a"]) == (row["id"], row["review"])
        assert entry["gold_label"] == row["colours"].split("|")
        for found, labels in ((right, "gold_label"), (predicted, "label")):
            found.append([int(one in entry[labels]) for one in ("blue", "red")])
    names = ("accuracy", "f1_micro", "f1_macro")
    assert read_results(folder, "test_eval_results.txt") == pytest.approx(
        metrics.compute_metrics(names, right, predicted, ["blue", "red"])
        | {"global_step": 4}
    )


def read_table(path):
    with open(path, encoding="utf-8-sig") as reader:
        return list(csv.DictReader(reader))


def test_resumes_from_what_is_there(runs, tmp_path):
    folder, commands = runs
    before = read_results(folder / "mrpc")
    table = (folder / "csv" / "test_results.tsv").read_bytes()
    # As if the run had been killed after its checkpoint of step 20.
    for file in (folder / "mrpc").glob("model.ckpt-22.*"):
        file.unlink()
    # The labels come from the folder of the model; there is no train set,
    # and of the three test examples one has a label.
    rows = read_table(folder / "csv-data/test.csv")
    rows[1]["colours"] = ["red"]
    del rows[0]["colours"]
    rows[2]["colours"] = None
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    predicting = {"do_train": False, "do_eval": False}
    diagnosing = predicting | parse_flags(f"""
        --task_name=ax --do_predict --glue_submission
        --early_stopping_patience=0 --init_checkpoint={folder}/mnli/best
        --output_dir={tmp_path}/ax
    """)
    again, tables, _ = script_runner.run_each(
        "run_classifier.py",
        folder,
        {},
        (
            commands["mrpc"],
            commands["csv"] | predicting | {"data_dir": tmp_path},
            commands["mnli"] | diagnosing,
        ),
    )
    assert "Training step 21 of 22" in again.stderr
    assert "Training step 1 of 22" not in again.stderr
    assert read_results(folder / "mrpc") == before
    assert (folder / "csv" / "test_results.tsv").read_bytes() == table
    _, lines = read_predictions(folder / "csv")
    assert ["gold_label" in line for line in lines] == [False, True, False]
    scores = read_results(folder / "csv", "test_eval_results.txt")
    assert scores["num_without_label"] == 2
    assert "2 of 3 test examples have no label" in tables.stderr
    submission = (tmp_path / "ax" / "AX.tsv").read_text().splitlines()
    assert len(submission) == 3
    assert submission[1].split("\t")[1] in LABELS
