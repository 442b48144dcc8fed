"""summary.json tells what the weights were trained with."""

import dataclasses
import json

import pytest

from files import run_files
from tests import toy_task
from training import checkpointing, fine_tuning

run_files.register("test_predictions.txt", are_results=True)


class WritingTask(toy_task.ToyTask):
    """A task that writes the predictions it is given."""

    text = "1"

    def write_predictions(self, split, batches, output_dir):
        with open(f"{output_dir}/test_predictions.txt", "w") as file:
            file.write(self.text)
        return {}


@pytest.fixture
def options(tmp_path):
    return toy_task.create_run(tmp_path, max_seq_length=8, num_train_epochs=1.0)


def run(options, **changes):
    """Runs a command with these flags; returns summary.json."""
    network = {"left_to_right": False, "bilstm": False}
    changes = {"do_eval": True} | network | changes
    options = dataclasses.replace(options, **changes)
    task = WritingTask()
    task.text = changes.get("do_predict") and str(changes)
    options = dataclasses.replace(options, all_flags=changes)
    fine_tuning.run(task, options)
    return json.loads(open(f"{options.output_dir}/summary.json").read())


@pytest.mark.slow
def test_commands_that_train_nothing_keep_what_it_was_trained_with(
    options, tmp_path
):
    trained = run(options, do_train=True, learning_rate=1e-3)
    assert trained["trained_with"] == {
        "flags": trained["all_flags"],
        "versions": trained["versions"],
        "step": 3,
    }
    assert trained["all_flags"]["learning_rate"] == 1e-3
    other = {"learning_rate": 5e-4, "allow_changed_settings": True}
    again = run(options, do_train=True, **other)
    assert again["all_flags"]["learning_rate"] == 5e-4
    assert again["trained_with"] == trained["trained_with"]
    evaluated = run(options)
    assert evaluated["trained_with"] == trained["trained_with"]
    # Its figures are tied to the same run and dev set.
    assert evaluated["fingerprint"] == trained["fingerprint"]
    assert trained["fingerprint"].keys() == {"run", "dev_set"}
    assert evaluated["settings"] == again["settings"]
    longer = run(options, do_train=True, num_train_epochs=2.0, **other)
    assert longer["trained_with"]["flags"]["num_train_epochs"] == 2.0
    assert longer["trained_with"]["step"] == 6
    # Other weights, evaluated in a folder of their own.
    start = f"{tmp_path}/run/model.ckpt-6"
    other = f"{tmp_path}/other"
    begun = run(options, output_dir=other, init_checkpoint=start)
    assert begun["trained_with"] is None
    assert begun["fingerprint"] == trained["fingerprint"]


@pytest.mark.slow
def test_a_run_killed_before_its_summary_knows_its_flags(options, tmp_path):
    flags = {"do_train": True, "learning_rate": 1e-3}
    trained = run(options, **flags)["trained_with"]
    path = tmp_path / "run/summary.json"
    path.unlink()
    assert run(options, **flags)["trained_with"] == trained
    summary = json.loads(path.read_text())
    del summary["trained_with"]
    for text in (json.dumps(summary), '{"trained_wi'):
        path.write_text(text)
        found = run(options, do_train=True, learning_rate=1e-3)
        assert found["trained_with"] is None


@pytest.mark.slow
def test_predictions_are_kept_until_the_weights_change(options, tmp_path):
    run(options, do_train=True)
    made = run(options, do_predict=True)["predictions"]
    ((name, size, _),) = made["files"]
    path = tmp_path / "run/test_predictions.txt"
    assert (name, size) == (path.name, path.stat().st_size)
    assert run(options)["predictions"] == made
    again = run(options, do_predict=True, predict_batch_size=3)["predictions"]
    assert again["test_set"] == made["test_set"]
    assert again["files"] != made["files"]
    longer = run(options, do_train=True, num_train_epochs=2.0)
    assert longer["predictions"] is None
    checkpointing.remove_checkpoints(tmp_path / "run", [3, 6])
    assert run(options, do_train=True)["trained_with"]["step"] == 3
