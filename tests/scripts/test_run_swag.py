"""run_swag.py on a made-up task in the released files' layout."""

import csv
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests import events, golden, script_runner
from training.callbacks import history

SUBJECTS = ["The river", "A boat", "Water", "The sky"]
ENDINGS = ["is red.", "is blue and the boat sails.", "runs.", "was old."]


def write_set(path, count, with_labels=True):
    """The right ending is always the second sentence's own."""
    rng = np.random.default_rng(count)
    with open(path, "w", encoding="utf-8", newline="") as writer:
        table = csv.writer(writer)
        header = ["", "video-id", "sent1", "sent2"]
        header += [f"ending{i}" for i in range(4)]
        table.writerow(header + ["label"] * with_labels)
        for i in range(count):
            kind = i % 4
            order = rng.permutation(4)
            row = [i, f"video{i}", f'He said: "{SUBJECTS[kind]}, there".']
            row += [SUBJECTS[kind], *(ENDINGS[j] for j in order)]
            right = [order.tolist().index(kind)]
            table.writerow(row + right * with_labels)


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny):
    folder = tmp_path_factory.mktemp("swag")
    write_set(folder / "train.csv", 32)
    write_set(folder / "val.csv", 10)
    write_set(folder / "test.csv", 5)
    flags = script_runner.fine_tuning_flags(
        folder,
        tiny / "one_block",
        num_train_epochs=1,
        learning_rate=1e-3,
        save_checkpoints_steps=6,
        export_dir=folder / "served",
    )
    done = script_runner.run("run_swag.py", folder, **flags).check()
    return folder, flags, done


def read_results(folder):
    lines = (folder / "eval_results.txt").read_text().splitlines()
    return dict(line.split(" = ") for line in lines)


def test_results_and_predictions(run):
    folder = run[0] / "run"
    results = read_results(folder)
    assert list(results) == [
        "accuracy",
        "eval_accuracy",
        "eval_loss",
        "global_step",
        "loss",
    ]
    assert results["global_step"] == "8"
    assert 0 <= float(results["accuracy"]) <= 1
    table = (folder / "test_results.tsv").read_text().splitlines()
    probabilities = np.array([line.split("\t") for line in table], float)
    assert probabilities.shape == (5, 4)
    np.testing.assert_allclose(probabilities.sum(-1), 1, rtol=1e-5)
    lines = (folder / "predictions.jsonl").read_text().splitlines()
    num_right = 0
    for i, (line, row) in enumerate(zip(lines, probabilities, strict=True)):
        entry = json.loads(line)
        assert entry["guid"] == f"test-{i + 1}"
        assert entry["label"] == str(row.argmax())
        num_right += entry["label"] == entry["gold_label"]
    scores = (folder / "test_eval_results.txt").read_text().splitlines()
    assert scores == [f"accuracy = {num_right / 5}", "global_step = 8"]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["global_step"] == 8


def test_the_evaluation_has_a_line_in_the_history(run):
    folder = run[0] / "run"
    found = history.read(folder / history.FILE)
    (line,) = [line for line in found if line["kind"] == "eval"]
    results = (folder / "eval_results.txt").read_text()
    assert f"eval_accuracy = {line['metrics']['accuracy']}\n" in results
    shown = events.scalars(folder)["eval/accuracy"]
    assert shown[8] == pytest.approx(line["metrics"]["accuracy"])


def test_tensorboard_shows_examples(run):
    rows = events.texts(run[0] / "run")["eval/samples"][8]
    assert rows[0]["text"] == 'He said: "The river, there". The river'
    assert rows[0]["right"] == "is red."
    assert {row["predicted"] for row in rows} <= {*ENDINGS}


def test_serves_what_it_predicts(run):
    folder = run[0]
    served = tf.saved_model.load(str(folder / "served"))
    records = tf.data.TFRecordDataset(str(folder / "run/predict.tf_record"))
    spec = {
        name: tf.io.FixedLenFeature([4, 24], tf.int64)
        for name in ("input_ids", "input_mask", "segment_ids")
    }
    inputs = tf.io.parse_example(list(records), spec)
    outputs = served.signatures["serving_default"](
        **{name: tf.cast(value, tf.int32) for name, value in inputs.items()}
    )
    table = (folder / "run/test_results.tsv").read_text().splitlines()
    np.testing.assert_allclose(
        outputs["probabilities"],
        np.array([line.split("\t") for line in table], float),
        atol=1e-5,
    )


@pytest.mark.slow
def test_resumes_and_names_what_is_wrong(run, tmp_path):
    folder, flags, _ = run
    resumed, broken, sample = (
        tmp_path / name for name in ("resumed", "broken", "sample")
    )
    # A run that was stopped after its checkpoint of step 6.
    shutil.copytree(folder / "run", resumed)
    for file in resumed.glob("model.ckpt-8.*"):
        file.unlink()
    broken.mkdir()
    lines = (folder / "train.csv").read_text().splitlines()
    lines[2] = lines[2][:-1] + "4"
    (broken / "train.csv").write_text("\n".join(lines))
    # Real rows, as JSON lines.
    sample.mkdir()
    rows = golden.SHARED / "data/swag/sample.json"
    if rows.exists():
        shutil.copy(rows, sample / "val.jsonl")
    else:
        shutil.copy(folder / "val.csv", sample)
    further, wrong, lacking, real = script_runner.run_all(
        [
            ("run_swag.py", folder, flags | more)
            for more in (
                {"output_dir": resumed, "export_dir": None},
                {"data_dir": broken, "output_dir": tmp_path / "new"},
                {"data_dir": tmp_path, "output_dir": tmp_path / "new"},
                {
                    "data_dir": sample,
                    "output_dir": tmp_path / "evaluated",
                    "init_checkpoint": folder / "run/model.ckpt-8",
                    "do_train": False,
                    "do_predict": False,
                    "export_dir": None,
                    "export_weights": tmp_path / "given.ckpt",
                },
            )
        ]
    )
    assert "Training step 7 of 8" in further.check().stderr
    assert read_results(resumed) == read_results(folder / "run")
    assert "train.csv, line 3, column 'label': the label must be" in wrong.error
    assert "there is no train set in" in lacking.error
    real.check()
    assert 0 <= float(read_results(tmp_path / "evaluated")["accuracy"]) <= 1
    names = dict(tf.train.list_variables(str(tmp_path / "given.ckpt")))
    assert names["output_weights"] == [1, 32]
    assert not any("adam" in name for name in names)
