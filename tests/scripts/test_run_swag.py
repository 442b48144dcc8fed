"""run_swag.py on a made-up task in the released files' layout."""

import csv
import json
import shutil

import numpy as np
import pytest

from tests import events, golden, script_runner
from tests.checkpoints import assert_same_bits, read_records, serve, values
from tests.script_runner import parse_flags, read_lines, read_results

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
    for name, count in (("train", 32), ("val", 10), ("test", 5)):
        write_set(folder / f"{name}.csv", count)
    flags = script_runner.fine_tuning_flags(
        folder,
        tiny / "one_block",
        num_train_epochs=1,
        learning_rate=1e-3,
        save_checkpoints_steps=6,
        export_dir=folder / "served",
    )
    script_runner.run("run_swag.py", folder, **flags).check()
    return folder, flags


def test_results_and_predictions(run):
    folder = run[0] / "run"
    results = read_results(folder)
    names = "accuracy eval_accuracy eval_loss global_step loss".split()
    assert list(results) == names
    assert results["global_step"] == 8
    assert 0 <= results["accuracy"] <= 1
    exported = read_results(folder, "export_eval_results.txt")
    assert exported["saved_model_accuracy"] == results["accuracy"]
    assert {*events.check_evaluations(folder)} == {8}
    probabilities = np.loadtxt(folder / "test_results.tsv", delimiter="\t")
    assert probabilities.shape == (5, 4)
    np.testing.assert_allclose(probabilities.sum(-1), 1, rtol=1e-5)
    entries = read_lines(folder / "predictions.jsonl")
    for i, (entry, row) in enumerate(zip(entries, probabilities, strict=True)):
        assert entry["guid"] == f"test-{i + 1}"
        assert entry["label"] == str(row.argmax())
    accuracy = np.mean([one["label"] == one["gold_label"] for one in entries])
    scores = (folder / "test_eval_results.txt").read_text().splitlines()
    assert scores == [f"accuracy = {accuracy}", "global_step = 8"]
    # Of one choice, not of all four.
    model = json.loads((folder / "model.json").read_text())
    assert model["task"]["max_seq_length"] == 24


def test_serves_what_it_predicts(run):
    inputs = read_records(run[0] / "run/predict.tf_record", [4, 24])
    found = serve(run[0] / "served", inputs)["probabilities"]
    expected = np.loadtxt(run[0] / "run/test_results.tsv", delimiter="\t")
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.slow
def test_resumes_and_evaluates_real_rows(run, tmp_path):
    folder, flags = run
    # A run that was stopped after its checkpoint of step 6.
    resumed = shutil.copytree(folder / "run", tmp_path / "resumed")
    for file in resumed.glob("model.ckpt-8.*"):
        file.unlink()
    # Real rows, as JSON lines.
    rows = golden.SHARED / "data/swag/sample.json"
    if rows.exists():
        shutil.copy(rows, tmp_path / "val.jsonl")
    else:
        shutil.copy(folder / "val.csv", tmp_path)
    evaluating = parse_flags(f"""
        --data_dir={tmp_path} --output_dir={tmp_path}/evaluated
        --init_checkpoint={folder}/run/model.ckpt-8 --do_train=False
        --do_predict=False --export_weights={tmp_path}/given
    """)
    changes = {"output_dir": resumed}, evaluating
    flags = flags | {"export_dir": None}
    done, _ = script_runner.run_each("run_swag.py", folder, flags, changes)
    assert "Training step 7 of 8" in done.stderr
    assert read_results(resumed) == read_results(folder / "run")
    assert_same_bits(values(resumed, 8), values(folder / "run", 8))
    assert 0 <= read_results(tmp_path / "evaluated")["accuracy"] <= 1
    given = values(tmp_path / "given/bert_model.ckpt")
    assert given["output_weights"].shape == (1, 32)
    assert not any("adam" in name for name in given)
