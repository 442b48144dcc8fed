"""run_ner.py on made-up sentences in CoNLL-2003's layout."""

import json

import numpy as np
import pytest
import tensorflow as tf

from data.ner import scoring
from tests import events, golden, script_runner
from tests.data.report_page import ReportPage
from training.callbacks import history

SENTENCES = [
    ["The O", "river I-LOC", "runs O"],
    ["A O", "boat I-ORG", "house I-ORG", "burns O", ". O"],
    ["Blue I-LOC", "red B-LOC", "water O"],
]
LABELS = ["O", "B-LOC", "B-ORG", "I-ORG"]


def write_set(path, count, with_tags=True):
    lines = ["-DOCSTART- -X- -X- O", ""]
    for i in range(count):
        for word in SENTENCES[i % 3]:
            text, tag = word.split()
            lines.append(f"{text} NN I-NP {tag}" if with_tags else text)
        lines.append("")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny):
    """Two trainings on the same files, with and without documents."""
    folder = tmp_path_factory.mktemp("ner")
    write_set(folder / "train.txt", 48)
    write_set(folder / "valid.txt", 9)
    write_set(folder / "test.txt", 5)
    flags = script_runner.fine_tuning_flags(
        folder,
        tiny / "one_block",
        num_train_epochs=3,
        learning_rate=2e-3,
        evaluate_each_epoch=True,
    )
    done = script_runner.run_all(
        [
            (
                "run_ner.py",
                folder,
                flags
                | {
                    "export_dir": "served",
                    "export_weights": "given",
                    "report": True,
                },
            ),
            (
                "run_ner.py",
                folder,
                flags
                | {
                    "document_context": True,
                    "num_train_epochs": 1,
                    "output_dir": "documents",
                },
            ),
        ]
    )
    for each in done:
        each.check()
    return folder, flags


def read_results(path):
    lines = path.read_text().splitlines()
    return {
        name: float(value)
        for name, value in (line.split(" = ") for line in lines)
    }


def test_learns_and_reports_conllevals_figures(runs):
    folder = runs[0] / "run"
    results = read_results(folder / "eval_results.txt")
    assert {
        "LOC_f1",
        "ORG_precision",
        "accuracy",
        "eval_loss",
        "f1",
        "global_step",
        "loss",
        "precision",
        "recall",
    } < results.keys()
    # Three sentences, each seen 48 times.
    assert results["f1"] > 0.9
    assert (folder / "labels.txt").read_text().splitlines() == LABELS
    best = json.loads((folder / "best/eval_results.json").read_text())
    assert best["global_step"] in (12, 24, 36)
    # The best step is the one that is used.
    assert best == pytest.approx(results)
    # And the one that the report is about.
    page = ReportPage((folder / "report.html").read_text("utf-8"))
    assert f"F1 {results['f1']:.4g}, precision" in page.text
    documents = read_results(runs[0] / "documents/eval_results.txt")
    # One document of 48 sentences in windows of 24.
    assert documents["global_step"] < 12


def test_each_evaluation_has_a_line_in_the_history(runs):
    found = history.read(runs[0] / "run" / history.FILE)
    shown = events.scalars(runs[0] / "run")["eval/f1"]
    f1 = {
        line["step"]: line["metrics"]["f1"]
        for line in found
        if line["kind"] == "eval"
    }
    assert {*f1} == {12, 24, 36}
    assert shown == pytest.approx(f1)


def test_tensorboard_shows_each_evaluations_sentences(runs):
    shown = events.texts(runs[0] / "run")["eval/samples"]
    assert {*shown} == {12, 24, 36}
    best = json.loads((runs[0] / "run/best/eval_results.json").read_text())
    right = ["river (LOC)", "boat house (ORG)", "Blue (LOC), red (LOC)"]
    rows = shown[best["global_step"]]
    assert rows[0]["text"] == "The river runs"
    assert [row["right"] for row in rows] == [
        right[number * 9 // 8 % 3] for number in range(8)
    ]
    assert sum(row["right"] == row["predicted"] for row in rows) > 4


def test_predictions_are_conllevals_columns(runs):
    folder = runs[0] / "run"
    text = (folder / "test_predictions.txt").read_text()
    sentences = [part.split("\n") for part in text.strip().split("\n\n")]
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    right, predicted = [], []
    for i, (sentence, line) in enumerate(zip(sentences, lines, strict=True)):
        entry = json.loads(line)
        words, tags, labels = zip(
            *(row.split(" ") for row in sentence), strict=True
        )
        assert list(words) == [w.split()[0] for w in SENTENCES[i % 3]]
        assert entry["words"] == list(words)
        assert entry["labels"] == list(labels)
        right.append(list(tags))
        predicted.append(list(labels))
    results = read_results(folder / "test_eval_results.txt")
    scores = scoring.score_entities(right, predicted)
    step = read_results(folder / "eval_results.txt")["global_step"]
    assert results == pytest.approx(scores | {"global_step": step})


def test_serves_what_it_predicts(runs):
    folder = runs[0]
    served = tf.saved_model.load(str(folder / "served"))
    spec = {
        name: tf.io.FixedLenFeature([24], tf.int64)
        for name in ("input_ids", "input_mask", "segment_ids", "label_ids")
    }
    records = tf.data.TFRecordDataset(str(folder / "run/predict.tf_record"))
    inputs = tf.io.parse_example(list(records), spec)
    label_ids = inputs.pop("label_ids").numpy()
    outputs = served.signatures["serving_default"](
        **{name: tf.cast(value, tf.int32) for name, value in inputs.items()}
    )
    assert outputs["probabilities"].shape == (5, 24, 4)
    counted = label_ids > 0
    predicted = outputs["probabilities"].numpy().argmax(-1)
    assert np.mean(predicted[counted] == label_ids[counted]) > 0.9


def test_predicts_from_weights_and_names_what_is_wrong(runs, tmp_path):
    folder, flags = runs
    untagged, broken = tmp_path / "untagged", tmp_path / "broken"
    for path in (untagged, broken):
        path.mkdir()
    write_set(untagged / "test.txt", 5, with_tags=False)
    (broken / "train.txt").write_text("One O\ntwo\n")
    predicting = flags | {
        "do_train": False,
        "do_eval": False,
        "evaluate_each_epoch": False,
        "data_dir": untagged,
        "init_checkpoint": folder / "given",
        "output_dir": tmp_path / "predicted",
    }
    given, reporting, wrong, order = script_runner.run_all(
        [
            ("run_ner.py", folder, more)
            for more in (
                predicting,
                predicting | {"report": True},
                flags | {"data_dir": broken, "output_dir": tmp_path / "new"},
                predicting | {"labels": "B-LOC,O,B-ORG,I-ORG"},
            )
        ]
    )
    given.check()
    before, after = (
        [
            json.loads(line)["labels"]
            for line in (path / "predictions.jsonl").read_text().splitlines()
        ]
        for path in (folder / "run", tmp_path / "predicted")
    )
    assert after == before
    assert not (tmp_path / "predicted/test_eval_results.txt").exists()
    assert "--report needs --do_eval" in reporting.error
    assert "train.txt, line 2: a line must hold a word and" in wrong.error
    assert "the model was trained with the labels ['O', 'B-LOC'" in order.error


@pytest.mark.soak
def test_conll_2003(tmp_path, runs):
    """The real files, every window of them; the tiny model learns little."""
    folder = golden.shared("data/conll2003")
    script_runner.run(
        "run_ner.py",
        tmp_path,
        **runs[1]
        | {
            "data_dir": folder,
            "output_dir": tmp_path / "run",
            "max_seq_length": 64,
            "train_batch_size": 32,
            "num_train_epochs": 1,
            "learning_rate": 1e-3,
            "evaluate_each_epoch": False,
        },
    ).check()
    results = read_results(tmp_path / "run/eval_results.txt")
    assert results["accuracy"] > 0.8
