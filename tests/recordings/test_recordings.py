"""What the scripts of this checkout make, against those of a base commit."""

import copy
import json
import os

import numpy as np
import pytest

from tests.recordings import commands, compare, contents, record
from tests.support.paths import ROOT

# Folder that tests.recordings.record wrote from the base commit.
BASE = os.environ.get("BERT_RECORDINGS_DIR")


@pytest.mark.slow
def test_the_scripts_make_what_those_of_the_base_made(tmp_path):
    if not BASE:
        pytest.skip("needs BERT_RECORDINGS_DIR, a recording of a base commit")
    failed = record.Recorder(ROOT, tmp_path, BASE).record()
    lines = []
    differs = compare.report_differences(BASE, tmp_path, write=lines.append)
    assert not failed, "\n".join(failed)
    assert not differs, "\n".join(lines)


RECORDED = {
    "command": ["run_classifier.py"],
    "status": 0,
    "stdout": ["--do_train: Train.", "  The default is False."],
    "stderr": ["Saved the checkpoint"],
    "programs": {"export/model.tflite": "0123"},
    "files": {
        "answers.jsonl": [
            {"label": "yes", "probability": 0.75},
            {"line": 2, "error": "text is missing"},
        ],
        "run/README.md": ["# A classifier", "", "| a | b |"],
        "run/eval_results.txt": ["f1 = 0.5"],
        "run/model.ckpt-3.index": contents.digest_arrays(
            {"kernel": np.arange(6, dtype=np.float32).reshape(2, 3)}
        ),
        "run/model.json": {"task": {"labels": ["no", "yes"], "length": 32}},
    },
}


def flip_a_bit(recorded):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    array.view(np.uint32)[1, 2] ^= 1
    variables = contents.digest_arrays({"kernel": array})
    recorded["files"]["run/model.ckpt-3.index"] = variables


def setter_of(place, value):
    """Returns a function that sets a value in a recording, None removes it.

    `place` are the keys that lead to the value, separated by " / ".
    """

    def set_value(recorded):
        *keys, last = place.split(" / ")
        for key in keys:
            recorded = recorded[int(key) if key.isdigit() else key]
        last = int(last) if last.isdigit() else last
        if value is None:
            del recorded[last]
        else:
            recorded[last] = value

    return set_value


ANSWER = "files / answers.jsonl / 0"
FAILED = "files / answers.jsonl / 1"
MODEL = "files / run/model.json"
CARD = "files / run/README.md"
VALUES = {
    "a bit of a variable": flip_a_bit,
    "an answer": setter_of(f"{ANSWER} / probability", 0.7500000000000001),
    "a field of an answer": setter_of(f"{ANSWER} / label", None),
    "a result": setter_of("files / run/eval_results.txt / 0", "f1 = 0.6"),
    "a help text": setter_of("stdout / 1", "  The default is True."),
    "an exit status": setter_of("status", 1),
    "a lost file": setter_of(MODEL, None),
    "a new file": setter_of("files / run/new.txt", ["new"]),
    "a setting": setter_of(f"{MODEL} / task / length", 32.0),
    "the order of labels": setter_of(f"{MODEL} / task / labels", ["yes", "no"]),
    "a word of a card": setter_of(f"{CARD} / 0", "# An encoder"),
    "an answer for an error": setter_of(FAILED, {"line": 2, "label": "no"}),
}
WORDS = {
    "a message": setter_of("stderr / 0", "Saved the step"),
    "white space of a card": setter_of(f"{CARD} / 2", "| a  | b |"),
    "the bytes of a program": setter_of(
        "programs / export/model.tflite", "4567"
    ),
    "the words of an error": setter_of(f"{FAILED} / error", "no text"),
}


def changes_values(alter):
    """Returns whether each difference that `alter` makes is a value."""
    new = copy.deepcopy(RECORDED)
    alter(new)
    return [
        difference.is_value for difference in compare.differences(RECORDED, new)
    ]


@pytest.mark.parametrize("name", VALUES)
def test_a_changed_value_is_noticed(name):
    assert True in changes_values(VALUES[name])


@pytest.mark.parametrize("name", WORDS)
def test_changed_messages_are_reported_and_do_not_fail(name):
    assert changes_values(WORDS[name]) == [False]


def test_the_order_of_keys_is_compared_except_in_the_settings():
    def shuffle(place):
        def alter(recorded):
            entries = recorded["files"]
            for key in place:
                entries = entries[key]
            turned = dict(reversed(entries.items()))
            entries.clear()
            entries.update(turned)

        return alter

    assert changes_values(shuffle(["run/model.json", "task"])) == []
    assert changes_values(shuffle(["answers.jsonl", 0])) == [True]


@pytest.fixture
def folders(tmp_path):
    """Two recordings of mrpc, in the second of which one bit differs."""
    for name, alter in (("base", lambda _: None), ("new", flip_a_bit)):
        made = copy.deepcopy(RECORDED)
        alter(made)
        (tmp_path / name / "recorded").mkdir(parents=True)
        path = tmp_path / name / "recorded/mrpc.json"
        path.write_text(json.dumps(made))
    return tmp_path / "base", tmp_path / "new"


def test_a_difference_fails_and_is_shown(folders):
    lines = []
    assert compare.report_differences(*folders, "mrpc", lines.append) == 1
    shown = "\n".join(lines)
    assert "mrpc: value: files / run/model.ckpt-3.index / kernel" in shown


def test_two_equal_recordings_do_not_fail(folders):
    base, _ = folders
    assert compare.report_differences(base, base, "mrpc", print) == 0


def test_a_command_that_was_not_recorded_fails(folders):
    lines = []
    assert compare.report_differences(*folders, "mrpc,squad", lines.append) == 1
    assert any("squad: not recorded" in line for line in lines)


def test_times_are_left_out_and_other_numbers_stay(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/history.jsonl").write_text(
        '{"step": 3, "hours": 0.25, "metrics": {"loss": 0.5}}\n'
    )
    text = f"Wrote {tmp_path}/run in 2.5 s: 0.125 of 30 texts\n"
    (tmp_path / "run/README.md").write_text(text)
    files = contents.describe(tmp_path, {tmp_path: "OUTPUT"})["files"]
    metrics = {"loss": 0.5}
    assert files == {
        "run/history.jsonl": [
            {"step": 3, "hours": "VARIES", "metrics": metrics}
        ],
        "run/README.md": ["Wrote OUTPUT/run in TIME: 0.125 of 30 texts", ""],
    }


def test_a_command_follows_the_commands_that_it_needs():
    seen = set()
    for name, command in commands.COMMANDS.items():
        assert seen.issuperset(command.needs), name
        seen.add(name)
