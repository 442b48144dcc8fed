"""What a folder of weights tells, and what a resume must share with it."""

import json

import pytest

import modeling
from tests import conftest, toy_task
from training import model_checks, model_folder

RECORDS = [["eval.tfrecord", 5, 1]]


@pytest.fixture
def folder(tmp_path):
    """A folder with a checkpoint, so that its settings count."""
    for end in ("index", "data-00000-of-00001"):
        (tmp_path / f"model.ckpt-1.{end}").touch()
    return tmp_path


def check(folder, settings, **flags):
    """Compares settings with those of a run, and records them."""
    config = toy_task.create_config(folder, max_seq_length=8, **flags)
    settings, changes = model_checks.check_same(config, settings)
    model = modeling.BertClassifier(modeling.BertConfig(**conftest.TINY), 2)
    model_folder.write_run(config, model, settings, changes, None, None)
    return settings


def test_a_run_may_be_evaluated_later_and_then_on_the_same_records(folder):
    check(folder, {"seed": 1})
    before = {"seed": 1, "eval_input_file": RECORDS}
    check(folder, before)
    check(folder, {"seed": 1})
    assert model_folder.read(folder).settings.items() >= before.items()
    for other in (["eval.tfrecord", 5, 2], ["other.tfrecord", 5, 1]):
        with pytest.raises(ValueError, match="eval_input_file="):
            check(folder, {"seed": 1, "eval_input_file": [other]})
    with pytest.raises(ValueError, match="seed=1; received None"):
        check(folder, {"eval_input_file": RECORDS})


def test_a_training_flag_changes_only_if_asked_to(folder):
    check(folder, {}, learning_rate=1e-4, num_train_epochs=2)
    # More of it is no other training.
    check(folder, {}, learning_rate=1e-4, num_train_epochs=3)
    for flags, message in (
        ({"learning_rate": 2e-4}, "--learning_rate=0.0001; received 0.0002"),
        ({"num_train_epochs": 2.0}, "--num_train_epochs=3; received 2.0"),
        ({"mixed_precision": "bfloat16"}, "--mixed_precision=float32"),
    ):
        flags = {"learning_rate": 1e-4, "num_train_epochs": 3} | flags
        with pytest.raises(ValueError, match=message) as error:
            check(folder, {}, **flags)
        for way in (f"--init_checkpoint={folder}", "--allow_changed_settings"):
            assert way in str(error.value)
        given = model_folder.read(folder)
        changed = {"allow_changed_settings": True, **flags}
        check(folder, {}, **changed)
        check(folder, {}, **changed)
        found = model_folder.read(folder)
        (change,) = found.changes[len(given.changes) :]
        assert change["after_step"] == 1 and len(change["flags"]) == 1
        check(
            folder,
            {},
            allow_changed_settings=True,
            **{"learning_rate": 1e-4, "num_train_epochs": 3},
        )


def test_a_later_version_is_named(folder):
    check(folder, {})
    path = folder / model_folder.FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 2}))
    with pytest.raises(ValueError, match="model.json has the version 2"):
        model_folder.read(folder / "model.ckpt-1")
