"""Which weights the folder of a run means: those that it exports."""

import functools
import logging

import keras
import pytest

import modeling
from modeling import presets
from tests import toy_task
from tests.checkpoints import assert_same_bits, values
from tests.models import built, tiny_config
from tests.training import test_best_step
from tests.training.test_best_step import ScriptedTask, accuracies
from tools import convert_checkpoint
from training import fingerprints

LAST = {"evaluate_each_epoch": False}
BEST = {"evaluate_each_epoch": True}


def train_and_export(folder, **changes):
    """Trains for 6 steps, of which 2 are best, and exports the weights."""
    options = toy_task.create_run(
        folder,
        export_weights=str(folder / "exported"),
        max_seq_length=test_best_step.LENGTH,
        learning_rate=1e-2,
        num_train_epochs=3,
        do_train=True,
        **changes,
    )
    toy_task.run(ScriptedTask(*accuracies(0.9, 0.8, 0.7)), options)
    return folder / "run", values(folder / "exported/bert_model.ckpt")


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """Returns a function: flags -> the folder of a run, what it exported."""

    @functools.cache
    def train(**changes):
        folder = tmp_path_factory.mktemp("trained")
        return train_and_export(folder, **changes)

    return train


def read(path):
    config = modeling.load_config(presets.folder_of(path))
    model = modeling.BertClassifier(config, 2)
    report = modeling.load_checkpoint(model, path)
    assert not report.unused and not report.missing
    return {
        name: variable.numpy()
        for name, variable in modeling.named_variables(model).items()
        if "seed_generator" not in name
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "place", "which"),
    [
        (BEST, "best/model.ckpt-2", "step 2, the best"),
        (LAST, "model.ckpt-6", "step 6, the last"),
    ],
)
def test_a_run_means_what_it_exports(
    changes, place, which, train, tmp_path, caplog
):
    run, exported = train(**changes)
    assert modeling.find_checkpoint(run) == str(run / place)
    assert modeling.find_checkpoint(f"{run}/").endswith(place)
    caplog.clear()
    with caplog.at_level(logging.INFO):
        assert_same_bits(read(run), exported)
        convert_checkpoint.main(
            convert_checkpoint.Config(
                init_checkpoint=str(run),
                model="classifier",
                output_dir=str(tmp_path / "converted"),
                output_format="tf1",
            )
        )
    converted = values(tmp_path / "converted/bert_model.ckpt")
    assert_same_bits(converted, exported)
    assert caplog.text.count(f"{run / place} is {which} of the run") == 2
    assert "Unused" not in caplog.text
    # As a teacher.
    teacher = fingerprints.fingerprint_checkpoint(str(run))
    assert teacher == fingerprints.fingerprint_checkpoint(str(run / place))
    # The path of a checkpoint means that one.
    last = read(run / "model.ckpt-6")
    if which == "step 6, the last":
        assert_same_bits(last, exported)
    else:
        assert any((last[name] != exported[name]).any() for name in exported)


def test_a_users_folder_is_refused_before_the_training(tmp_path):
    (tmp_path / "exported").mkdir()
    (tmp_path / "exported" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="--export_weights.*notes.txt"):
        train_and_export(tmp_path, **LAST)
    assert not [*(tmp_path / "run").glob("model.ckpt-*")]


@pytest.mark.slow
def test_entries_of_a_training_are_not_called_unused(train):
    """Google's and TensorFlow's readers ignore them too."""
    try:
        run, exported = train(mixed_precision="float16", **LAST)
    finally:
        keras.config.set_dtype_policy("float32")
    assert_same_bits(read(run), exported)


def test_a_folder_that_is_no_run_is_read_as_before(tmp_path):
    model = built(modeling.BertModel(tiny_config()))
    modeling.save_checkpoint(model, tmp_path / "bert_model.ckpt")
    # Somebody's own folder of another model.
    modeling.save_checkpoint(model, tmp_path / "best/bert_model.ckpt")
    path = str(tmp_path / "bert_model.ckpt")
    assert modeling.find_checkpoint(tmp_path) == path
