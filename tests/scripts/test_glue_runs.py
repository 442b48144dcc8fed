"""run_classifier.py on GLUE's other tasks, on tables, and several runs."""

import csv
import json
import math
import statistics

import numpy as np
import pytest
import tensorflow as tf

from data.classification import metrics
from tests import script_runner
from tests.checkpoints import assert_exported
from tests.glue_sets import (
    write_mnli,
    write_regression,
    write_table,
    write_unequal,
)


@pytest.fixture(scope="module")
def flags(tiny):
    return {
        "bert_config_file": tiny / "one_block/bert_config.json",
        "vocab_file": script_runner.SAMPLES / "vocab.txt",
        "max_seq_length": 24,
        "train_batch_size": 4,
        "num_train_epochs": 1,
        "learning_rate": 1e-3,
        "do_train": True,
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory, flags):
    """The folders of five trainings, by name, and their flags."""
    folder = tmp_path_factory.mktemp("runs")
    write_regression(folder / "sts-b-data")
    write_mnli(folder / "mnli-data")
    write_unequal(folder / "cola-data")
    write_table(folder / "csv-data")
    commands = {
        "mrpc": {
            "data_dir": script_runner.SAMPLES / "glue",
            "num_train_runs": 2,
            "num_train_epochs": 0.1,
            "save_checkpoints_steps": 20,
            "do_predict": True,
            "glue_submission": True,
            "export_weights": "given",
        },
        "sts-b": {
            "do_eval": True,
            "do_predict": True,
            "glue_submission": True,
            "export_dir": "served",
            "ema_decay": 0.5,
        },
        "mnli": {
            "do_eval": True,
            "early_stopping_patience": 1,
            "class_weights": "balanced",
            "left_to_right": True,
            "bilstm": True,
        },
        "cola": {
            "do_eval": True,
            "class_weights": folder / "cola-data/weights.json",
            "learning_rate": 1e-2,
            # Both labels in each batch.
            "train_batch_size": 16,
            "num_train_epochs": 12,
        },
        "csv": {"do_eval": True, "do_predict": True},
    }
    commands["csv"] |= table_flags()
    for name, more in commands.items():
        commands[name] = {
            **flags,
            "task_name": name,
            "data_dir": folder / f"{name}-data",
            "output_dir": folder / name,
            **more,
        }
    done = script_runner.run_all(
        [
            ("run_classifier.py", folder, command)
            for command in commands.values()
        ]
    )
    for each in done:
        each.check()
    return folder, commands


def table_flags():
    return {
        "output_mode": "multilabel",
        "text_column": "review",
        "label_column": "colours",
        "label_separator": "|",
        "id_column": "id",
    }


def read_results(folder, name="eval_results.txt"):
    lines = (folder / name).read_text().splitlines()
    return {
        name: float(value)
        for name, value in (line.split(" = ") for line in lines)
    }


def read_predictions(folder):
    table = (folder / "test_results.tsv").read_text().splitlines()
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    return (
        np.array([line.split("\t") for line in table], float),
        [json.loads(line) for line in lines],
    )


def test_several_runs_report_mean_and_deviation_and_keep_the_best(runs):
    folder = runs[0] / "mrpc"
    one, two = (read_results(folder / f"run_{n}") for n in (1, 2))
    results = read_results(folder)
    original = {"eval_accuracy", "eval_loss", "global_step", "loss"}
    assert one.keys() == two.keys() == original | {"accuracy", "f1"}
    assert one["accuracy"] == one["eval_accuracy"]
    assert one["eval_loss"] != two["eval_loss"]
    for name in one.keys() - {"global_step"}:
        pair = (one[name], two[name])
        assert results[f"{name}_mean"] == pytest.approx(statistics.mean(pair))
        assert results[f"{name}_deviation"] == pytest.approx(
            statistics.stdev(pair), abs=1e-12
        )
    best = 2 if two["f1"] > one["f1"] else 1
    assert results["best_run"] == best
    assert results["f1"] == max(one["f1"], two["f1"])
    steps = int(results["global_step"])
    kept, given, trained = (
        tf.train.load_checkpoint(str(runs[0] / path))
        for path in (
            f"mrpc/model.ckpt-{steps}",
            "given/bert_model.ckpt",
            f"mrpc/run_{best}/model.ckpt-{steps}",
        )
    )
    names = given.get_variable_to_shape_map()
    assert not any("adam" in name for name in names)
    for name in names:
        np.testing.assert_array_equal(
            kept.get_tensor(name), trained.get_tensor(name)
        )
        np.testing.assert_array_equal(
            given.get_tensor(name), trained.get_tensor(name)
        )
    assert sorted(path.name for path in (runs[0] / "given").iterdir()) == [
        "bert_config.json",
        "bert_model.ckpt.data-00000-of-00001",
        "bert_model.ckpt.index",
        "bert_weights.json",
        "labels.txt",
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
    # With --ema_decay, the averages.
    assert_exported(runs[0] / "served", folder / "averages")
    results = read_results(folder)
    assert results.keys() == {
        "eval_loss",
        "global_step",
        "loss",
        "pearson",
        "spearman",
    }
    table, lines = read_predictions(folder)
    assert table.shape == (3, 1)
    assert [entry["label"] for entry in lines] == pytest.approx(table[:, 0])
    assert not (folder / "labels.txt").exists()
    submission = (folder / "STS-B.tsv").read_text().splitlines()[1:]
    assert [0 <= float(line.split("\t")[1]) <= 5 for line in submission]
    assert (runs[0] / "served" / "saved_model.pb").is_file()


def test_multinli_is_evaluated_on_both_sets(runs):
    folder = runs[0] / "mnli"
    results = read_results(folder)
    names = {"eval_accuracy", "eval_loss", "loss", "accuracy"}
    assert results.keys() == {
        "global_step",
        *names,
        *(f"{name}_mm" for name in names),
    }
    best = json.loads((folder / "best" / "eval_results.json").read_text())
    assert best["accuracy"] == results["accuracy"]
    assert best["global_step"] == results["global_step"] == 3
    # Four examples of each label.
    settings = json.loads((folder / "run_settings.json").read_text())
    assert settings["class_weights"] == dict.fromkeys(
        ("contradiction", "entailment", "neutral"), 1.0
    )


def test_weights_of_classes_decide(runs):
    folder = runs[0] / "cola"
    # Of one text the heavier label is predicted, not the more frequent one.
    assert read_results(folder)["eval_accuracy"] == 0.25
    settings = json.loads((folder / "run_settings.json").read_text())
    assert settings["class_weights"] == {"0": 0.001, "1": 1.0}


def test_an_lstm_is_trained_and_kept(runs):
    values = tf.train.load_checkpoint(str(runs[0] / "mnli"))
    names = [n for n in values.get_variable_to_shape_map() if "lstm" in n]
    # Three of each direction, and the optimizer's of each.
    for kind, count in (("adam_m", 6), ("adam_v", 6), ("", 18)):
        assert len([name for name in names if kind in name]) == count


def test_several_labels_each(runs):
    folder = runs[0] / "csv"
    assert (folder / "labels.txt").read_text() == "blue\nred\n"
    results = read_results(folder)
    assert {"accuracy", "f1_micro", "f1_macro"} < results.keys()
    # The loss of a model that knows nothing is log 2 a label.
    assert abs(results["eval_loss"] - math.log(2)) < 0.5
    table, lines = read_predictions(folder)
    for row, entry in zip(table, lines, strict=True):
        assert list(entry["probabilities"]) == ["blue", "red"]
        assert entry["label"] == [
            label
            for label, probability in entry["probabilities"].items()
            if probability > 0.5
        ]
        assert list(entry["probabilities"].values()) == pytest.approx(row)


def test_a_labelled_test_set_is_scored_and_kept(runs):
    folder = runs[0] / "csv"
    _, lines = read_predictions(folder)
    with open(runs[0] / "csv-data/test.csv", encoding="utf-8-sig") as reader:
        rows = list(csv.DictReader(reader))
    given = [
        {
            "guid": row["id"],
            "text_a": row["review"],
            "gold_label": row["colours"].split("|"),
        }
        for row in rows
    ]
    assert [
        {name: line[name] for name in ("guid", "text_a", "gold_label")}
        for line in lines
    ] == given
    right, predicted = (
        [
            [int(word in line[name]) for word in ("blue", "red")]
            for line in lines
        ]
        for name in ("gold_label", "label")
    )
    names = ("accuracy", "f1_micro", "f1_macro")
    assert read_results(folder, "test_eval_results.txt") == pytest.approx(
        metrics.compute_metrics(names, right, predicted) | {"global_step": 4}
    )
    # GLUE's test sets have no labels.
    assert not (runs[0] / "sts-b/test_eval_results.txt").exists()
    entry = read_predictions(runs[0] / "sts-b")[1][0]
    assert entry.keys() == {"guid", "text_a", "text_b", "label"}


@pytest.mark.slow
def test_resumes_from_what_is_there(runs, tmp_path):
    folder, commands = runs
    before = read_results(folder / "mrpc")
    table = (folder / "csv" / "test_results.tsv").read_bytes()
    # As if the second run had been killed after its checkpoint of step 20.
    for file in (folder / "mrpc" / "run_2").glob("model.ckpt-22.*"):
        file.unlink()
    # The labels come from the folder of the model; there is no train set,
    # and of the three test examples one has a label.
    lone = tmp_path / "lone"
    lone.mkdir()
    with open(folder / "csv-data/test.csv", encoding="utf-8-sig") as reader:
        rows = list(csv.DictReader(reader))
    rows[1]["colours"] = ["red"]
    del rows[0]["colours"]
    rows[2]["colours"] = None
    (lone / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    predicting = {"do_train": False, "do_eval": False}
    again, tables, diagnostics = script_runner.run_all(
        [
            ("run_classifier.py", folder, commands["mrpc"]),
            (
                "run_classifier.py",
                folder,
                commands["csv"] | predicting | {"data_dir": lone},
            ),
            (
                "run_classifier.py",
                folder,
                commands["mnli"]
                | predicting
                | {
                    "task_name": "ax",
                    "do_predict": True,
                    "glue_submission": True,
                    "early_stopping_patience": 0,
                    "init_checkpoint": folder / "mnli" / "best",
                    "output_dir": tmp_path / "ax",
                },
            ),
        ]
    )
    # The first run, and once more if it is the best.
    assert again.check().stderr.count("Nothing left to do") in (1, 2)
    assert "Training step 21 of 22" in again.stderr
    assert "Training step 1 of 22" not in again.stderr
    assert read_results(folder / "mrpc") == before
    tables.check()
    assert (folder / "csv" / "test_results.tsv").read_bytes() == table
    _, lines = read_predictions(folder / "csv")
    assert ["gold_label" in line for line in lines] == [False, True, False]
    scores = read_results(folder / "csv", "test_eval_results.txt")
    assert scores["num_without_label"] == 2
    assert "2 of 3 test examples have no label" in tables.stderr
    diagnostics.check()
    submission = (tmp_path / "ax" / "AX.tsv").read_text().splitlines()
    assert len(submission) == 3
    assert submission[1].split("\t")[1] in (
        "contradiction",
        "entailment",
        "neutral",
    )


def test_what_does_not_fit_is_named(runs):
    folder, commands = runs
    broken = folder / "broken"
    write_table(broken)
    lines = (broken / "dev.csv").read_text().splitlines()
    (broken / "dev.csv").write_text("\n".join([*lines, "green,9,text"]))
    no_training = {"do_train": False}
    cases = [
        ("csv", {"text_column": "texts"}, "csv-data/train.csv, line 1"),
        (
            "csv",
            {"data_dir": broken, "output_dir": "new"},
            f"dev.csv, line {len(lines) + 1}, column 'colours': unknown "
            "label 'green'",
        ),
        (
            "csv",
            no_training | {"labels": "red,blue"},
            "the model was trained with the labels ['blue', 'red']",
        ),
        ("csv", {"glue_submission": True}, "GLUE takes submissions of ax"),
        ("csv", {"task_name": "mnlli"}, "--task_name=mnlli is not known"),
        ("csv", {"class_weights": "balanced"}, "Received: multilabel"),
        ("csv", {"num_train_runs": 2}, "holds a single run"),
        ("csv", no_training | {"bilstm": True}, "trained with --nobilstm"),
        ("mnli", {"bilstm": False}, "holds a run with bilstm=True"),
        (
            "mnli",
            no_training | {"left_to_right": False},
            "trained with --left_to_right; give it here too",
        ),
        ("mrpc", {"num_train_runs": 1}, "holds several runs"),
        ("sts-b", {"data_dir": "nowhere"}, "nowhere/train.tsv does not exist"),
    ]
    done = script_runner.run_all(
        [
            ("run_classifier.py", folder, commands[name] | more)
            for name, more, _ in cases
        ]
    )
    for each, (_, _, message) in zip(done, cases, strict=True):
        assert message in each.error
