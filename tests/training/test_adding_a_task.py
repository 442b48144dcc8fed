"""The file of docs/adding_a_task.md adds a task, as the page says."""

import json
import re

import pytest
import tensorflow as tf

from tests.support import script_runner
from tests.support.golden import ROOT
from tests.support.task_runs import run_task_test


@pytest.mark.slow
def test_its_file_trains_evaluates_predicts_and_exports(tmp_path, tiny):
    folder = tmp_path
    page = (ROOT / "docs/adding_a_task.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert len(source.splitlines()) <= 80
    script = folder / "run_boolq.py"
    script.write_text(source, encoding="utf-8")
    for name, count in (("train", 16), ("val", 6), ("test", 3)):
        rows = [
            {
                "question": "is the river blue",
                "passage": f"the river is {('red', 'blue')[number % 2]}",
                "answer": bool(number % 2),
            }
            for number in range(count)
        ]
        if name == "test":
            for row in rows:
                del row["answer"]
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    flags = script_runner.fine_tuning_flags(
        folder,
        tiny,
        export_dir=folder / "served",
        num_train_epochs=2,
        evaluate_each_epoch=True,
    )
    run_task_test(script, flags, "eval_accuracy")
    names = script_runner.read_results(folder / "run")
    assert [*names] == [
        "eval_accuracy",
        "eval_loss",
        "f1",
        "global_step",
    ]
    entries = script_runner.read_lines(folder / "run/predictions.jsonl")
    for entry in entries:
        assert entry["question"] == "is the river blue"
        assert entry["label"] in ("no", "yes")
        assert list(entry["probabilities"]) == ["no", "yes"]
    assert len(entries) == 3
    assert (folder / "run/labels.txt").read_text() == "no\nyes\n"

    served = tf.saved_model.load(str(folder / "served"))
    outputs = served.signatures["classify"](
        text_a=tf.constant(["is the river blue"] * 3),
        text_b=tf.constant(
            [f"the river is {color}" for color in ("red", "blue")] * 2
        )[:3],
    )
    for row, entry in zip(outputs["probabilities"], entries, strict=True):
        expected = list(entry["probabilities"].values())
        assert list(row.numpy()) == pytest.approx(expected, abs=1e-5)
