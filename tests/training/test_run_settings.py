"""Settings that a resumed run must share."""

import json

import pytest

from training import run_settings

RECORDS = [["eval.tfrecord", 5, 1]]


@pytest.fixture
def folder(tmp_path):
    """A folder with a checkpoint, so that its settings count."""
    for end in ("index", "data-00000-of-00001"):
        (tmp_path / f"model.ckpt-1.{end}").touch()
    return tmp_path


def saved(folder):
    return json.loads((folder / run_settings.FILE).read_text())


def test_a_run_may_be_evaluated_later_and_then_on_the_same_records(folder):
    run_settings.check_same(folder, {"seed": 1})
    before = {"seed": 1, "eval_input_file": RECORDS}
    run_settings.check_same(folder, before, is_chief=False)
    assert saved(folder) == {"seed": 1}
    run_settings.check_same(folder, before)
    run_settings.check_same(folder, {"seed": 1})
    assert saved(folder) == before
    for other in (["eval.tfrecord", 5, 2], ["other.tfrecord", 5, 1]):
        with pytest.raises(ValueError, match="eval_input_file="):
            run_settings.check_same(
                folder, {"seed": 1, "eval_input_file": [other]}
            )
    with pytest.raises(ValueError, match="seed=1; received None"):
        run_settings.check_same(folder, {"eval_input_file": RECORDS})
