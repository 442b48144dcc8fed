"""Which step is evaluated, predicted, exported and read after training."""

import dataclasses
import json
import logging

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from tests import conftest, toy_task
from tests.checkpoints import assert_same_bits, values
from tests.script_runner import SAMPLES, read_results
from tools import convert_checkpoint
from training import checkpointing, ensembles, fine_tuning, fingerprints

LENGTH, EXAMPLES, BATCH_SIZE = 4, 8, 4
STEPS_PER_EPOCH = EXAMPLES // BATCH_SIZE
BEST = {"evaluate_each_epoch": True}
LAST = {"evaluate_each_epoch": False}


class ScriptedTask(toy_task.ToyTask):
    """A task whose scores are given, one dict for each evaluation."""

    metrics = ("accuracy", "f1")
    num_examples = EXAMPLES
    max_seq_length = LENGTH

    def __init__(self, *scores):
        self.scores = iter(scores)
        self.num_evaluations = 0

    def evaluate(self, split, batches):
        assert len(list(batches)) == 1
        self.num_evaluations += 1
        return dict(next(self.scores))

    def write_predictions(self, split, batches, output_dir):
        (logits,) = (outputs for _, outputs in batches)
        np.save(f"{output_dir}/logits.npy", logits)
        return {}

    def export(self, export_dir, model):
        modeling.save_checkpoint(model, f"{export_dir}/exported.ckpt")


@pytest.fixture
def options(tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(conftest.TINY | {"num_hidden_layers": 1}))
    (tmp_path / "export").mkdir()
    return toy_task.create_config(
        tmp_path / "run",
        bert_config_file=str(config),
        export_dir=str(tmp_path / "export"),
        max_seq_length=LENGTH,
        train_batch_size=BATCH_SIZE,
        learning_rate=1e-2,
        num_train_epochs=3,
        summary_steps=0,
        do_train=True,
        do_eval=True,
        do_predict=True,
        evaluate_each_epoch=True,
    )


def accuracies(*values):
    return [{"accuracy": value, "f1": 1 - value} for value in values]


def used_step(folder):
    """Returns the steps whose weights were exported and whose logits are."""
    exported = tf.train.load_checkpoint(str(folder / "export/exported.ckpt"))
    found = set()
    run = folder / "run"
    for path in (run, run / "best"):
        for step in checkpointing.checkpoint_steps(path):
            saved = tf.train.load_checkpoint(str(path / f"model.ckpt-{step}"))
            if all(
                np.array_equal(
                    exported.get_tensor(name), saved.get_tensor(name)
                )
                for name in exported.get_variable_to_shape_map()
            ):
                found.add(step)
    return found


def test_the_best_step_is_evaluated_predicted_and_exported(
    options, tmp_path, caplog
):
    chosen = ScriptedTask(*accuracies(0.5, 0.9, 0.7))
    with caplog.at_level(logging.INFO):
        fine_tuning.run(chosen, options)
    best = 2 * STEPS_PER_EPOCH
    # Not once more after training.
    assert chosen.num_evaluations == 3
    assert read_results(tmp_path / "run")["accuracy"] == 0.9
    assert read_results(tmp_path / "run")["global_step"] == best
    assert used_step(tmp_path) == {best}
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["global_step"] == best
    for what in ("Evaluated while training", "Predicting", "Exporting"):
        assert any(
            what in line and f"step {best}, the best" in line
            for line in caplog.messages
        ), what
    # A later command takes it too.
    logits = np.load(tmp_path / "run/logits.npy")
    later = dataclasses.replace(
        options,
        do_train=False,
        do_eval=False,
        evaluate_each_epoch=False,
        export_dir=None,
    )
    fine_tuning.run(ScriptedTask(), later)
    np.testing.assert_allclose(
        np.load(tmp_path / "run/logits.npy"), logits, atol=1e-6
    )
    fine_tuning.run(ScriptedTask(), dataclasses.replace(later, load_best=False))
    assert not np.allclose(np.load(tmp_path / "run/logits.npy"), logits)


def test_the_last_step_is_kept_on_request(options, tmp_path, caplog):
    chosen = ScriptedTask(*accuracies(0.5, 0.9, 0.7))
    with caplog.at_level(logging.INFO):
        fine_tuning.run(chosen, dataclasses.replace(options, load_best=False))
    last = 3 * STEPS_PER_EPOCH
    assert chosen.num_evaluations == 3
    assert read_results(tmp_path / "run")["accuracy"] == 0.7
    assert read_results(tmp_path / "run")["global_step"] == last
    assert used_step(tmp_path) == {last}
    assert f"Exporting step {last}, the last" in caplog.text


@pytest.mark.parametrize("at_once", [True, False])
def test_averages_are_exported(at_once, options, tmp_path):
    options = dataclasses.replace(
        options, ema_decay=0.5, evaluate_each_epoch=False, do_eval=False
    )
    if at_once:
        fine_tuning.run(ScriptedTask(), options)
    else:
        first = dataclasses.replace(options, export_dir=None)
        fine_tuning.run(ScriptedTask(), first)
        # A later command takes them from the run's folder.
        later = dataclasses.replace(options, do_train=False, ema_decay=0.0)
        fine_tuning.run(ScriptedTask(), later)
    exported = values(tmp_path / "export/exported.ckpt")
    trained = values(tmp_path / "run", 3 * STEPS_PER_EPOCH)
    for name, value in exported.items():
        average = trained[f"{name}/ExponentialMovingAverage"]
        np.testing.assert_array_equal(value, average, name)
    assert any(np.any(trained[name] != exported[name]) for name in exported)


def test_another_figure_can_choose(options, tmp_path):
    fine_tuning.run(
        ScriptedTask(*accuracies(0.5, 0.9, 0.7)),
        dataclasses.replace(options, metric_for_best="f1"),
    )
    assert read_results(tmp_path / "run")["f1"] == 0.5
    assert used_step(tmp_path) == {STEPS_PER_EPOCH}


def test_the_lowest_loss_is_the_best(options, tmp_path):
    fine_tuning.run(
        ScriptedTask(*accuracies(0.5, 0.9, 0.7)),
        dataclasses.replace(options, metric_for_best="eval_loss"),
    )
    # It learns the labels of eight examples by heart.
    assert used_step(tmp_path) == {3 * STEPS_PER_EPOCH}


def test_the_best_of_several_runs_is_its_best_step(options, tmp_path):
    chosen = ScriptedTask(*accuracies(0.5, 0.8, 0.7), *accuracies(0.6, 0.3, 0))
    fine_tuning.run(chosen, dataclasses.replace(options, num_train_runs=2))
    assert chosen.num_evaluations == 6
    found = read_results(tmp_path / "run")
    assert found["best_run"] == 1
    assert found["accuracy"] == 0.8
    assert found["accuracy_mean"] == pytest.approx(0.7)
    assert used_step(tmp_path) == {2 * STEPS_PER_EPOCH}


def test_a_figure_that_is_none_is_refused_before_training(options):
    for name in ("accuracies", "loss"):
        with pytest.raises(ValueError, match="one of accuracy, f1, eval_loss"):
            fine_tuning.run(
                ScriptedTask(),
                dataclasses.replace(options, metric_for_best=name),
            )
    with pytest.raises(ValueError, match="--metric_for_best needs"):
        fine_tuning.run(
            ScriptedTask(),
            dataclasses.replace(
                options, metric_for_best="f1", evaluate_each_epoch=False
            ),
        )


def train_and_export(options, folder, **changes):
    """Trains for 6 steps, of which 2 are best, and exports the weights."""
    run = dataclasses.replace(
        options,
        output_dir=str(folder / "run"),
        export_weights=str(folder / "exported"),
        export_dir=None,
        do_eval=False,
        do_predict=False,
        **changes,
    )
    fine_tuning.run(ScriptedTask(*accuracies(0.9, 0.8, 0.7)), run)
    return folder / "run", values(folder / "exported/bert_model.ckpt")


def read(path, config):
    model = modeling.BertClassifier(modeling.load_config(config), 2)
    report = modeling.load_checkpoint(model, path)
    assert not report.unused and not report.missing
    return {
        name: variable.numpy()
        for name, variable in modeling.named_variables(model).items()
        if "seed_generator" not in name
    }


@pytest.mark.parametrize(
    ("changes", "place", "which"),
    [
        (BEST | {"ema_decay": 0.5}, "best/model.ckpt-2", "step 2, the best"),
        (BEST, "best/model.ckpt-2", "step 2, the best"),
        (
            LAST | {"ema_decay": 0.5},
            "averages/model.ckpt-6",
            "step 6, the averages",
        ),
        (LAST, "model.ckpt-6", "step 6, the last"),
    ],
)
def test_a_run_means_what_it_exports(
    changes, place, which, options, tmp_path, caplog
):
    run, exported = train_and_export(options, tmp_path, **changes)
    assert modeling.find_checkpoint(run) == str(run / place)
    assert modeling.find_checkpoint(f"{run}/").endswith(place)
    caplog.clear()
    with caplog.at_level(logging.INFO):
        assert_same_bits(read(run, options.bert_config_file), exported)
        convert_checkpoint.main(
            convert_checkpoint.Config(
                init_checkpoint=str(run),
                bert_config_file=options.bert_config_file,
                model="classifier",
                output_dir=str(tmp_path / "converted"),
                output_format="tf1",
            )
        )
    converted = values(tmp_path / "converted/bert_model.ckpt")
    assert_same_bits(converted, exported)
    assert caplog.text.count(f"{run / place} is {which} of its run") == 2
    assert "Unused" not in caplog.text
    # As a teacher, and in an ensemble.
    teacher = fingerprints.fingerprint_checkpoint(str(run))
    assert teacher == fingerprints.fingerprint_checkpoint(str(run / place))
    # The path of a checkpoint means that one.
    last = read(run / "model.ckpt-6", options.bert_config_file)
    if which == "step 6, the last":
        assert_same_bits(last, exported)
    else:
        assert any((last[name] != exported[name]).any() for name in exported)


def test_a_run_that_was_cut_off_has_its_averages(options, tmp_path, caplog):
    """Without training, such a run would be exported with them, too."""
    changes = LAST | {"ema_decay": 0.5}
    run, exported = train_and_export(options, tmp_path, **changes)
    (averages,) = (run / "averages").glob("*.index")
    for aside in ("gone", "of an earlier step"):
        if aside == "gone":
            averages.rename(tmp_path / "aside.index")
        else:
            (tmp_path / "aside.index").rename(
                averages.with_name("model.ckpt-4.index")
            )
        caplog.clear()
        with caplog.at_level(logging.INFO):
            found = read(run, options.bert_config_file)
        assert_same_bits(found, exported)
        assert "model.ckpt-6 is step 6, the last, averaged" in caplog.text


@pytest.mark.parametrize("load_best", [True, False])
def test_an_ensemble_takes_what_its_members_export(
    load_best, options, tmp_path
):
    runs, exported = [], []
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        run, weights = train_and_export(
            options,
            folder,
            seed=seed,
            load_best=load_best,
            ema_decay=0.5,
            **BEST,
        )
        runs.append(str(run))
        exported.append(weights)
    found = ensembles.find_members(
        toy_task.create_config(
            tmp_path / "out", ensemble=",".join(runs), load_best=load_best
        )
    )
    for member, weights in zip(found, exported, strict=True):
        assert_same_bits(read(member, options.bert_config_file), weights)


def test_entries_of_a_training_are_not_called_unused(options, tmp_path):
    """Google's and TensorFlow's readers ignore them too."""
    try:
        run, exported = train_and_export(
            options, tmp_path, mixed_precision="float16", **LAST
        )
    finally:
        keras.config.set_dtype_policy("float32")
    assert_same_bits(read(run, options.bert_config_file), exported)


def test_a_folder_that_is_no_run_is_read_as_before(tmp_path):
    model = modeling.BertModel(
        modeling.load_config(SAMPLES / "bert_config.json")
    )
    model.build()
    modeling.save_checkpoint(model, tmp_path / "bert_model.ckpt")
    # Somebody's own folder of another model.
    modeling.save_checkpoint(model, tmp_path / "best/bert_model.ckpt")
    path = str(tmp_path / "bert_model.ckpt")
    assert modeling.find_checkpoint(tmp_path) == path
