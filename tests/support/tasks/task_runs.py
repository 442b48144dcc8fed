"""Checks what each fine-tuning script promises, on real runs of a task.

For example:

    results = run_task_test("run_ner.py", flags, metric="f1")
"""

import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.arrays import FloatArray
from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.model_json import read_model_json
from tests.support import output_files, script_runner, tensorboard_events
from tests.support.checkpoints import assert_same_bits, read_checkpoint
from tests.support.fresh_process import ProcessResult
from tests.support.output_files import read_results
from tests.support.paths import SAMPLES
from tests.support.script_runner import Flags, split_flags
from training.run_files import history

# Files whose contents differ from run to run, such as times.
DIFFERS = ("events.out.", "checkpoint", "model.ckpt-", ".lock", "history.jsonl")


def fine_tuning_flags(folder: Path, model: StrPath, **flags: object) -> Flags:
    """Returns the flags to train, evaluate and predict with a short run."""
    text = f"""
        --bert_config_file={model}/bert_config.json
        --vocab_file={SAMPLES}/vocab.txt
        --max_seq_length=24 --train_batch_size=4
        --do_train --do_eval --do_predict
    """
    # Do not parse these paths, because they may contain spaces.
    folders = {"data_dir": folder, "output_dir": folder / "run"}
    return split_flags(text) | folders | flags


def run_task_test(
    script: str, flags: Flags, metric: str, export_format: str = "saved_model"
) -> ProcessResult:
    """Trains, evaluates, predicts and exports, and checks the results.

    The export and the predictions of the test set, which is the dev set or has
    no labels, must score as the model. History and TensorBoard must agree.

    Args:
        script: the script.
        flags: its flags, with `output_dir` and `export_dir`.
        metric: name of the task's main result.
        export_format: format of the export.

    Returns:
        The result of the script.
    """
    run = flags["output_dir"]
    more: Flags = {"save_checkpoints_steps": 4}
    done = script_runner.run(script, run.parent, **more | flags).check()
    check_exported_scores(run, metric, export_format)
    check_test_scores(run, metric)
    check_last_step(done, run)
    run_commands(done, run.parent)
    return done


def check_exported_scores(run: Path, metric: str, export_format: str) -> None:
    """Checks that the export of a run scores as its model does."""
    results = read_results(run)
    exported = read_results(run, "export_eval_results.txt")
    assert f"{export_format}_{metric}" in exported
    for name, score in exported.items():
        expected = results[name.removeprefix(f"{export_format}_")]
        assert score == pytest.approx(expected, abs=1e-4), name


def check_test_scores(run: Path, metric: str) -> None:
    """Checks the score of the test set, which is the dev set or unlabeled."""
    if (run / "test_eval_results.txt").exists():
        tested = read_results(run, "test_eval_results.txt")
        assert tested[metric] == pytest.approx(read_results(run)[metric])


def check_last_step(done: ProcessResult, run: Path) -> None:
    """Checks that the log, history and TensorBoard contain the last step."""
    last_step = list_checkpoint_steps(run)[-1]
    progress = f"Training step {last_step} of {last_step}  epoch "
    assert progress in done.stderr
    assert last_step in tensorboard_events.check_evaluations(run)


def run_commands(done: ProcessResult, folder: Path) -> int:
    """Runs the commands of predict.py that a training named at its end."""
    lines = [*map(shlex.split, done.stderr.splitlines()[-5:])]
    commands = [line[2:] for line in lines if line[1:2] == ["predict.py"]]
    for command in commands:
        script_runner.run("predict.py", folder, *command).check()
    return len(commands)


def check_resume(
    script: str,
    flags: Flags,
    kill_when: Callable[[Path], bool] | None = None,
) -> None:
    """Kills a second run of a task that has ended, and resumes it.

    Its checkpoint must end with the same bits, its history have the same lines,
    and its files be the same.

    Args:
        script: the script.
        flags: flags of the run that has ended.
        kill_when: function (folder of the run) -> bool. By default, the run is
            killed after the checkpoint of step 4.
    """
    undisturbed = flags["output_dir"]
    folder = undisturbed.parent
    more: Flags = {"save_checkpoints_steps": 4} | flags
    for name in ("output_dir", "export_dir", "export_weights"):
        if name in flags:
            # A run records the names of its folders.
            more[name] = folder / "again" / flags[name].name
    killed = more["output_dir"]
    killed.parent.mkdir()
    kill_when = kill_when or (lambda run: (run / "model.ckpt-4.index").exists())

    def run(kill_when: Callable[[], bool] = lambda: False) -> ProcessResult:
        return script_runner.run(script, folder, kill_when=kill_when, **more)

    done = run(lambda: kill_when(killed))
    assert done.status == -signal.SIGKILL
    killed_at = list_checkpoint_steps(killed)[-1]
    restored = f"Restored the checkpoint {killed}/model.ckpt-{killed_at}"
    assert restored in run().check().stderr
    step = list_checkpoint_steps(undisturbed)[-1]
    assert_same_bits(
        read_checkpoint(killed, step), read_checkpoint(undisturbed, step)
    )
    actual = read_outputs(killed)
    expected = read_outputs(undisturbed)
    assert actual.keys() == expected.keys()
    for name, content in expected.items():
        assert actual[name] == content, name
    assert read_history(killed) == read_history(undisturbed)


def read_history(run: Path) -> list[JsonObject]:
    """Returns the lines of a history, without what differs from run to run."""
    lines = []
    for line in history.read_history(run / history.HISTORY_FILE):
        kept: JsonObject = {**line}
        del kept["hours"]
        kept["metrics"] = {
            name: value
            for name, value in line["metrics"].items()
            if not name.endswith(("_per_second", "_gib"))
        }
        lines.append(kept)
    return lines


def list_evaluated_steps(run: Path) -> list[int]:
    """Returns the steps whose evaluation is in the history of a run."""
    lines = history.read_history(run / history.HISTORY_FILE)
    return [line["step"] for line in lines if line["kind"] == "eval"]


def read_length(run: Path) -> int:
    """Returns the --max_seq_length that a run recorded."""
    flags = read_model_json(run)["origin"]["settings"]["flags"]
    length = flags["max_seq_length"]
    assert length is not None
    return length


def read_predictions(run: Path) -> tuple[FloatArray, list[Any]]:
    """Returns the table of a classifier's outputs, and a dict per example."""
    table = np.loadtxt(run / "test_results.tsv", delimiter="\t", ndmin=2)
    return table, output_files.read_json_lines(run / "predictions.jsonl")


def read_outputs(run: Path) -> dict[str, bytes]:
    """Returns the bytes of a run's files that must not differ."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in run.rglob("*")
        if path.is_file() and not path.name.startswith(DIFFERS)
    }
