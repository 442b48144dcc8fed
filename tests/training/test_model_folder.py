"""The settings in a folder of weights, which a resume must share."""

import contextlib
import json

import pytest

import modeling
from modeling.folders import model_json, presets
from modeling.folders.checkpoint_folders import find_best
from tests.support import models, toy_task
from tests.support.golden import ROOT
from training.resuming import check_resumed, settings_to_record
from training.run_folder import RunFolder

RECORDS = [["eval.tfrecord", 5, 1]]


@pytest.fixture
def folder(tmp_path):
    """A folder with a checkpoint, so that its settings count."""
    for end in ("index", "data-00000-of-00001"):
        (tmp_path / f"model.ckpt-1.{end}").touch()
    return tmp_path


def begin(config, model, settings, labels=None):
    """Describes a model in a run's folder, as the start of a run does."""
    folder = RunFolder(toy_task.create_start(config, model.config), labels)
    folder.record(settings, dev_set=0)
    folder.begin(model)


def check(folder, settings, **flags):
    """Compares settings with those of a run, and records them."""
    config = toy_task.create_config(folder, max_seq_length=8, **flags)
    preset = presets.read(folder, "--output_dir")
    if not (folder / model_json.FILE).exists():
        # The run begins.
        preset = None
    check_resumed(config, preset, settings)
    settings = settings_to_record(config, preset, settings)
    bert_config = modeling.BertConfig(**models.TINY)
    begin(config, modeling.BertClassifier(bert_config, 2), settings)


def test_a_run_may_be_evaluated_later_and_then_on_the_same_records(folder):
    check(folder, {"seed": 1})
    before = {"seed": 1, "eval_input_file": RECORDS}
    check(folder, before)
    check(folder, {"seed": 1})
    assert presets.read(folder).training.items() >= before.items()
    for other in (["eval.tfrecord", 5, 2], ["other.tfrecord", 5, 1]):
        with pytest.raises(ValueError, match="eval_input_file="):
            check(folder, {"seed": 1, "eval_input_file": [other]})


def test_more_epochs_resume_and_another_training_does_not(folder):
    flags = {"learning_rate": 1e-4, "num_train_epochs": 2}
    check(folder, {}, **flags)
    flags["num_train_epochs"] = 3
    check(folder, {}, **flags)
    for name, value in (("learning_rate", 2e-4), ("num_train_epochs", 2.0)):
        way = f"--{name}=.*--init_checkpoint={folder}"
        with pytest.raises(ValueError, match=way):
            check(folder, {}, **flags | {name: value})


def test_results_of_earlier_weights_are_named(tmp_path, caplog):
    """They stay, as they may be the user's, but are not of these weights."""
    options = toy_task.create_run(
        tmp_path, max_seq_length=8, do_train=True, do_eval=True
    )
    results = tmp_path / "run/eval_results.txt"

    def train(epochs, **changes):
        changes["num_train_epochs"] = epochs
        caplog.clear()
        toy_task.run(toy_task.ToyTask(), options | changes)
        return str(results) in caplog.text

    assert not train(1)
    # Nothing is left to train.
    assert not train(1, do_eval=False)
    assert train(2, do_eval=False)
    assert "global_step = 3" in results.read_text()
    assert not train(3)


def test_a_run_whose_settings_are_lost_is_not_resumed(folder):
    with pytest.raises(ValueError, match=r"model\.json"):
        toy_task.resolve_config(folder, do_train=True)


def test_a_start_that_has_moved_on_can_be_left_out(folder):
    check(folder, {"init_checkpoint": RECORDS})
    with pytest.raises(ValueError, match="--init_checkpoint"):
        check(folder, {"init_checkpoint": [["eval.tfrecord", 5, 2]]})
    check(folder, {})


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"version": 2}, "version 2"),
        ({"origin": [1]}, "origin"),
        ({"task": {"max_seq_length": 2}}, "max_seq_length"),
        ({"task": {"doc_stride": -1}}, "doc_stride"),
        ({"task": {"num_texts": 3}}, "num_texts"),
        ({"task": {"output_mode": "regresion"}}, "output_mode"),
        ({"task": {"load_best": "no"}}, "load_best"),
    ],
)
def test_a_file_of_another_form_is_named(folder, change, name):
    (folder / model_json.FILE).write_text(json.dumps({"version": 1} | change))
    with pytest.raises(ValueError, match=rf"model\.json.*{name}"):
        toy_task.resolve_config(folder, do_eval=True)


def places(entries, path=()):
    """Yields the path of each entry in a dict of dicts."""
    for name, value in entries.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from places(value, (*path, name))


def test_odd_entries_end_in_errors_of_one_line(folder):
    settings = {
        "eval_input_file": RECORDS,
        "bert_config": modeling.BertConfig(**models.TINY).to_dict(),
        "tokenizer": {"do_lower_case": True, "vocab": [5, 1]},
        "labels": ["no", "yes"],
    }
    check(folder, settings)
    start = toy_task.create_start(toy_task.create_config(folder), None)
    RunFolder(start).set_best_step(1)
    path = folder / model_json.FILE
    whole = path.read_text()
    for *parents, name in places(json.loads(whole)):
        for odd in (None, [], {}, "x", -1, [[1]], {"a": None}):
            entries = inner = json.loads(whole)
            for parent in parents:
                inner = inner[parent]
            inner[name] = odd
            path.write_text(json.dumps(entries))
            with contextlib.suppress(ValueError):
                for each in ({"do_eval": True}, {"do_train": True}):
                    toy_task.resolve_config(folder, max_seq_length=8, **each)
                find_best(folder)
                check(folder, settings)


def write(folder, labels=None, **changes):
    """Writes the description of an encoder, as a run's start does."""
    config = modeling.BertConfig(**models.TINY | changes)
    model = modeling.BertModel(config)
    begin(toy_task.create_config(folder), model, {}, labels)


def test_files_of_a_run_without_a_checkpoint_are_replaced(tmp_path):
    """It was killed before its first checkpoint."""
    write(tmp_path)
    write(tmp_path, num_attention_heads=1)
    found = json.loads((tmp_path / "bert_config.json").read_text())
    assert found["num_attention_heads"] == 1


def test_files_of_a_run_with_a_checkpoint_stay(tmp_path):
    write(tmp_path)
    (tmp_path / "model.ckpt-1.index").touch()
    with pytest.raises(ValueError, match=r"bert_config\.json"):
        write(tmp_path, num_attention_heads=1)


def test_a_users_own_files_stay(tmp_path):
    models.write_config(tmp_path / "bert_config.json")
    (tmp_path / "labels.txt").write_text("no\nyes\n")
    write(tmp_path, ["no", "yes"])
    with pytest.raises(ValueError, match=r"labels\.txt"):
        write(tmp_path, ["yes", "no"])
    with pytest.raises(ValueError, match=r"bert_config\.json"):
        write(tmp_path, num_attention_heads=1)


def test_a_users_own_description_stays(tmp_path):
    text = '{"version": 1, "mine": 2}'
    (tmp_path / model_json.FILE).write_text(text)
    with pytest.raises(ValueError, match=r"model\.json"):
        write(tmp_path)
    assert (tmp_path / model_json.FILE).read_text() == text


def test_tags_of_another_toolkit_may_be_of_any_scheme():
    folder = ROOT / "tests/testdata/huggingface/BertForTokenClassification"
    assert presets.read(folder).settings["legal_tags"] is False
