"""Which lines of a history file are read."""

import json

import pytest

from training.run_files import history

LINE = {
    "kind": "eval",
    "step": 1,
    "hours": 0.1,
    "examples": 8,
    "learning_rate": None,
    "metrics": {"loss": 0.5},
}


@pytest.mark.parametrize(
    ("change", "entry"),
    [
        (None, "kind"),
        ({"kind": "test"}, "kind"),
        ({"kind": ["eval"]}, "kind"),
        ({"step": "1"}, "step"),
        ({"step": True}, "step"),
        ({"hours": None}, "hours"),
        ({"examples": [8]}, "examples"),
        ({"learning_rate": "0.1"}, "learning_rate"),
        ({"metrics": [0.5]}, "metrics"),
        ({"metrics": {"loss": "0.5"}}, "metrics"),
        ({"metrics": {"loss": True}}, "metrics"),
        ({"dev_set": "1"}, "dev_set"),
        ({"best_step": "1"}, "best_step"),
    ],
)
def test_a_line_of_another_program_is_named(change, entry, tmp_path):
    path = tmp_path / history.HISTORY_FILE
    lines = [LINE, {} if change is None else LINE | change]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(ValueError, match=rf"history\.jsonl, line 2: `{entry}`"):
        history.read_history(path)
    del lines[1]
    path.write_text(f"{json.dumps(LINE)}\n")
    assert history.read_history(path) == lines
