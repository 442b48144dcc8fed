"""The file of docs/adding_a_task.md adds a task, as the page says."""

import json
import re

import pytest
import tensorflow as tf

from tests.support import fresh_process, script_runner
from tests.support.golden import ROOT
from tests.support.tasks.task_runs import run_task_test


def write_questions(path, count, with_answers=True):
    """Writes a set of the page's task, whose answers alternate."""
    rows = [
        {
            "question": "is the river blue",
            "passage": f"the river is {('red', 'blue')[number % 2]}",
            "answer": bool(number % 2),
        }
        for number in range(count)
    ]
    if not with_answers:
        for row in rows:
            del row["answer"]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture(scope="module")
def source():
    """The file that the page shows."""
    page = (ROOT / "docs/adding_a_task.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    return code


@pytest.fixture(scope="module")
def folder(source, tiny, tmp_path_factory):
    """The folder of the file, its sets and its run."""
    folder = tmp_path_factory.mktemp("boolq")
    script = folder / "run_boolq.py"
    script.write_text(source, encoding="utf-8")
    write_questions(folder / "train.jsonl", 16)
    write_questions(folder / "val.jsonl", 6)
    write_questions(folder / "test.jsonl", 3, with_answers=False)
    flags = script_runner.fine_tuning_flags(
        folder,
        tiny,
        export_dir=folder / "served",
        num_train_epochs=2,
        evaluate_each_epoch=True,
    )
    run_task_test(script, flags, "eval_accuracy")
    return folder


def test_the_file_of_a_task_is_short(source):
    assert len(source.splitlines()) <= 120


@pytest.mark.slow
def test_mypy_accepts_the_types_of_the_file(source, tmp_path):
    script = tmp_path / "run_boolq.py"
    script.write_text(source, encoding="utf-8")
    fresh_process.run("-m", "mypy", script).check()


@pytest.mark.slow
def test_the_error_of_an_answer_names_its_line(source, tiny, tmp_path):
    script = tmp_path / "run_boolq.py"
    script.write_text(source, encoding="utf-8")
    write_questions(tmp_path / "train.jsonl", 2)
    with open(tmp_path / "train.jsonl", "a") as file:
        row = {"question": "is it", "passage": "it is", "answer": "yes"}
        file.write(json.dumps(row))
    flags = script_runner.fine_tuning_flags(tmp_path, tiny)
    error = script_runner.run(script, tmp_path, **flags).error
    assert "train.jsonl, line 3: the answer must be true or false" in error
    assert "'yes'" in error


@pytest.mark.slow
def test_the_results_are_those_that_the_file_names(folder):
    results = script_runner.read_results(folder / "run")
    assert [*results] == ["eval_accuracy", "eval_loss", "f1", "global_step"]


@pytest.mark.slow
def test_the_predictions_are_those_that_the_file_writes(folder):
    entries = script_runner.read_lines(folder / "run/predictions.jsonl")
    assert len(entries) == 3
    for entry in entries:
        assert entry["question"] == "is the river blue"
        assert entry["label"] in ("no", "yes")
        assert list(entry["probabilities"]) == ["no", "yes"]
    assert (folder / "run/labels.txt").read_text() == "no\nyes\n"


@pytest.mark.slow
def test_the_export_answers_as_the_run_predicts(folder):
    entries = script_runner.read_lines(folder / "run/predictions.jsonl")
    served = tf.saved_model.load(str(folder / "served"))
    colors = ("red", "blue", "red")
    outputs = served.signatures["classify"](
        text_a=tf.constant(["is the river blue"] * len(colors)),
        text_b=tf.constant([f"the river is {color}" for color in colors]),
    )
    for row, entry in zip(outputs["probabilities"], entries, strict=True):
        expected = list(entry["probabilities"].values())
        assert list(row.numpy()) == pytest.approx(expected, abs=1e-5)
