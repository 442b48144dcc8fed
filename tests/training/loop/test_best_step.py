"""Which step is evaluated, predicted, exported and read after training."""

import contextlib
import logging
import os
import shutil

import keras
import numpy as np
import pytest

import modeling
from files.json_files import read_json
from model_folders.checkpoint_folders import checkpoint_steps, find_best
from tests.support import toy_task
from tests.support.checkpoints import assert_same_bits, values
from tests.support.script_runner import read_results
from training.run import history, run_folder
from training.start import read_initial_preset

LENGTH = 4
EXAMPLES = 8
BATCH_SIZE = 4
STEPS_PER_EPOCH = EXAMPLES // BATCH_SIZE
# Flags of a command that does not train.
LATER = {"do_train": False, "evaluate_each_epoch": False}


class ScriptedTask(toy_task.ToyTask):
    """A task whose accuracies a test decides.

    Args:
        start: what the command starts from.
        find_accuracy: function () -> accuracy of an evaluation.
        first_example: number of the first example of the dev set.
    """

    metrics = ("accuracy", "f1")
    num_examples = EXAMPLES
    max_seq_length = LENGTH

    def __init__(self, start, find_accuracy, first_example):
        super().__init__(start)
        self.find_accuracy = find_accuracy
        self.first_example = first_example

    def read_examples(self, split):
        first = self.first_example if split == "eval" else 0
        return range(first, first + self.num_examples)

    def evaluate(self, split, batches):
        assert len(list(batches)) == 1
        accuracy = self.find_accuracy()
        return {"accuracy": accuracy, "f1": 1 - accuracy}

    def write_predictions(self, split, batches, output_dir):
        (logits,) = (outputs for _, outputs in batches)
        np.save(f"{output_dir}/logits.npy", logits)
        return {}


@pytest.fixture
def options(tmp_path):
    """Flags of a run of three epochs that evaluates each of them."""
    return toy_task.create_run(
        tmp_path,
        export_weights=str(tmp_path / "weights"),
        max_seq_length=LENGTH,
        learning_rate=1e-2,
        num_train_epochs=3,
        do_train=True,
        do_eval=True,
        do_predict=True,
        evaluate_each_epoch=True,
    )


def run_task(options, accuracies, first_example=0, **changes):
    """Runs a command that must evaluate as often as there are accuracies.

    Args:
        options: flags of a command that trains.
        accuracies: accuracy that each evaluation finds, in order.
        first_example: number of the dev set's first example, which tells one
            dev set from another.
        **changes: flags that differ from `options`.
    """
    shutil.rmtree(options["export_weights"], ignore_errors=True)
    left = iter(accuracies)
    toy_task.run_task(
        ScriptedTask, options | changes, left.__next__, first_example
    )
    assert not [*left], "the command has evaluated less often"


def run_later(options, accuracies, **changes):
    """Runs a command that does not train, as `run_task` does."""
    return run_task(options, accuracies, **LATER | changes)


def used_step(folder):
    """Returns the steps whose weights the last command exported."""
    exported = values(folder / "weights/bert_model.ckpt")
    steps = set()
    for path in (folder / "run", folder / "run/best"):
        for step in checkpoint_steps(path):
            saved = values(path, step)
            if all(
                np.array_equal(exported[name], saved[name]) for name in exported
            ):
                steps.add(step)
    return steps


@pytest.mark.parametrize(
    "load_best, step, place", [(True, 4, "best"), (False, 6, "last")]
)
def test_the_chosen_step_is_evaluated_predicted_and_exported(
    load_best, step, place, options, tmp_path, caplog
):
    """The score is of a fourth evaluation, which is that of the export."""
    accuracies = [0.5, 0.9, 0.7, 0.9 if load_best else 0.7]
    export_dir = str(tmp_path / "served")
    with caplog.at_level(logging.INFO):
        run_task(
            options, accuracies, load_best=load_best, export_dir=export_dir
        )
    results = read_results(tmp_path / "run")
    assert results["accuracy"] == accuracies[-1]
    assert results["global_step"] == step
    assert used_step(tmp_path) == {step}
    chosen = f"step {step} (the {place} step)"
    lines = [line for line in caplog.messages if chosen in line]
    for work in ("Evaluating", "Predicting", "Exporting"):
        assert any(work in line for line in lines), work


@pytest.mark.parametrize("load_best", [True, False])
def test_a_later_command_predicts_with_the_step_that_its_flag_chooses(
    load_best, options, tmp_path
):
    run_task(options, [0.5, 0.9, 0.7], load_best=load_best)
    logits = np.load(tmp_path / "run/logits.npy")
    for later_load_best in (True, False):
        run_later(
            options,
            [],
            do_eval=False,
            export_weights=None,
            load_best=later_load_best,
        )
        later_logits = np.load(tmp_path / "run/logits.npy")
        is_same = np.allclose(later_logits, logits, atol=1e-6)
        assert is_same == (later_load_best == load_best)


# The loss falls, because the labels of eight examples are learned by heart.
@pytest.mark.parametrize(
    "name, epoch, f1", [("f1", 1, 0.5), ("eval_loss", 3, 0.3)]
)
def test_metric_for_best_chooses_the_best_step(
    name, epoch, f1, options, tmp_path
):
    run_task(options, [0.5, 0.9, 0.7], metric_for_best=name)
    assert read_results(tmp_path / "run")["f1"] == pytest.approx(f1)
    assert used_step(tmp_path) == {epoch * STEPS_PER_EPOCH}


def test_an_unknown_metric_for_best_is_refused_before_training(options):
    with pytest.raises(ValueError, match="--metric_for_best"):
        run_task(options, [], metric_for_best="loss")


def test_metric_for_best_without_an_evaluation_of_each_epoch_is_refused(
    options,
):
    changes = {"metric_for_best": "f1", "evaluate_each_epoch": False}
    config = toy_task.parse_flags(options | changes).config
    with pytest.raises(ValueError, match="--metric_for_best"):
        config.check(frozenset())


def remove_checkpoints(folder):
    """Removes the checkpoints of a run, but not its best step."""
    for file in folder.glob("model.ckpt-*"):
        file.unlink()


@pytest.mark.parametrize(
    ("name", "error", "when"),
    # The file system has no links, or the run is killed before or between two.
    [
        ("link", OSError, 1),
        ("rename", KeyboardInterrupt, 1),
        ("rename", KeyboardInterrupt, 2),
    ],
)
def test_the_best_step_is_kept_if_linking_its_files_fails(
    name, error, when, options, tmp_path, monkeypatch
):
    run = tmp_path / "run"
    function = getattr(os, name)
    calls = []

    def call_or_fail(*paths):
        calls.append(paths)
        if len(calls) == when:
            raise error
        function(*paths)

    monkeypatch.setattr(os, name, call_or_fail)
    with contextlib.suppress(KeyboardInterrupt):
        run_task(options, [0.5, 0.6, 0.9])
    assert find_best(run).endswith("model.ckpt-6")
    # The next checkpoint removes the files of step 6, but not its copy.
    flags = {"num_train_epochs": 4, "keep_checkpoint_max": 1}
    run_task(options, [0.8, 0.9], **flags)
    assert used_step(tmp_path) == {6}
    assert checkpoint_steps(run) == [8]


def test_a_best_step_that_is_the_last_is_stored_once(options, tmp_path):
    run = tmp_path / "run"
    run_task(options, [0.5, 0.6, 0.9])
    for end in ("index", "data-00000-of-00001"):
        name = f"model.ckpt-6.{end}"
        assert (run / name).samefile(run / "best" / name)


def test_a_better_step_replaces_the_best_one(options, tmp_path):
    run_task(options, [0.5, 0.6, 0.9])
    run_task(options, [0.95], num_train_epochs=4)
    assert checkpoint_steps(tmp_path / "run/best") == [8]


def best_of(folder):
    """Returns the best step that a run's description names."""
    return read_json(folder / "run/model.json")["best_step"]


@pytest.mark.slow
@pytest.mark.parametrize("load_best", [True, False])
def test_without_its_checkpoints_a_run_is_evaluated_with_the_weights_of_a_flag(
    load_best, options, tmp_path, caplog
):
    """A command that does not train uses them and their description."""
    run_task(options, [0.5, 0.6, 0.9])
    shutil.copytree(tmp_path / "run", tmp_path / "other")
    remove_checkpoints(tmp_path / "run")
    start = f"{tmp_path}/other/model.ckpt-6"
    later = options | LATER | {"init_checkpoint": start}
    config = toy_task.parse_flags(later).config
    assert read_initial_preset(config).path == options["output_dir"]
    run_task(later, [0.9], load_best=load_best)
    assert used_step(tmp_path) == {6}
    assert "starts again" not in caplog.text


@pytest.mark.slow
def test_a_run_that_starts_again_forgets_its_best_step(
    options, tmp_path, caplog
):
    run_task(options, [0.5, 0.6, 0.9])
    remove_checkpoints(tmp_path / "run")
    # The old best is of step 6, and would also pass for the newest weights.
    run_task(options, [0.3, 0.2], num_train_epochs=2, learning_rate=1e-7)
    assert caplog.text.count("starts again") == 1
    assert read_results(tmp_path / "run")["accuracy"] == 0.3
    assert used_step(tmp_path) == {2}
    assert checkpoint_steps(tmp_path / "run/best") == [2]
    assert best_of(tmp_path) == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 12345])
def test_the_best_step_of_an_earlier_run_is_not_predicted_with(
    seed, options, tmp_path
):
    run_task(options, [0.5, 0.9, 0.6])
    remove_checkpoints(tmp_path / "run")
    # It evaluates nothing while it trains, and goes beyond the old best.
    new = {"evaluate_each_epoch": False, "learning_rate": 1e-7, "seed": seed}
    run_task(options, [0.3], **new)
    run_later(options, [0.3])
    assert used_step(tmp_path) == {6}
    # Nor does the folder mean it, as a start or to be converted.
    checkpoint = modeling.find_checkpoint(tmp_path / "run")
    assert checkpoint == f"{tmp_path}/run/model.ckpt-6"


MISSING = "The run's best step, 4, is missing"


@pytest.fixture
def without_best(options, tmp_path):
    """The folder of a run without the files of its best step."""
    run_task(options, [0.5, 0.9, 0.6])
    shutil.rmtree(tmp_path / "run/best")
    return tmp_path / "run"


def test_a_command_warns_of_a_missing_best_step(without_best, options, caplog):
    run_later(options, [0.3])
    assert MISSING in caplog.text


@pytest.mark.parametrize("best", [None, False])
def test_loading_warns_of_a_missing_best_step_unless_told_not_to_use_it(
    best, without_best, caplog
):
    model = toy_task.BertClassifier(modeling.load_config(without_best), 2)
    modeling.load_checkpoint(model, without_best, best=best)
    assert (MISSING in caplog.text) == (best is None)


def test_a_better_step_that_model_json_does_not_name_is_not_used(
    options, tmp_path
):
    """A run that was killed between the two leaves such a step."""
    run_task(options, [0.5, 0.9, 0.6])
    for file in (tmp_path / "run").glob("model.ckpt-6.*"):
        shutil.copy(file, tmp_path / "run/best")
    run_later(options, [0.3])
    assert read_results(tmp_path / "run")["global_step"] == 4


def test_a_kill_at_the_start_of_a_resume_keeps_the_best_step(
    options, tmp_path, monkeypatch
):
    run_task(options, [0.5, 0.9, 0.6])
    best_steps = []
    original = run_folder.write_json

    def write_json(path, contents):
        original(path, contents)
        best_steps.append(find_best(tmp_path / "run"))

    monkeypatch.setattr(run_folder, "write_json", write_json)
    run_task(options, [0.7, 0.9], num_train_epochs=4)
    assert {*best_steps} == {str(tmp_path / "run/best/model.ckpt-4")}


@pytest.mark.slow
def test_a_resume_on_the_same_dev_set_keeps_the_best_step(options, tmp_path):
    run_task(options, [0.5, 0.9], num_train_epochs=2)
    run_task(options, [0.7, 0.9])
    assert best_of(tmp_path) == 4


@pytest.mark.slow
def test_an_evaluation_on_another_dev_set_keeps_the_best_step(
    options, tmp_path
):
    run_task(options, [0.5, 0.9], num_train_epochs=2)
    run_later(options, [0.3], first_example=1)
    run_task(options, [0.8, 0.9])
    assert best_of(tmp_path) == 4


@pytest.mark.slow
def test_a_training_on_another_dev_set_chooses_the_best_step_anew(
    options, tmp_path, caplog
):
    run_task(options, [0.5, 0.9], num_train_epochs=2)
    run_task(options, [0.7, 0.2], num_train_epochs=4, first_example=1)
    assert caplog.text.count("another dev set") == 1
    assert best_of(tmp_path) == 6
    assert used_step(tmp_path) == {6}


@pytest.mark.slow
def test_a_resume_from_before_the_best_step_finds_the_same_steps(
    options, tmp_path
):
    flags = {"num_train_epochs": 6, "save_checkpoints_steps": 6}
    figures = [0.5, 0.7, 0.6, 0.65, 0.9, 0.8]
    undisturbed = options | {"output_dir": f"{tmp_path}/whole"}
    run_task(undisturbed, figures, **flags)
    # The run stops after step 10, its best step, and resumes from step 6.
    with pytest.raises(StopIteration):
        run_task(options, figures[:5], **flags)
    assert checkpoint_steps(tmp_path / "run") == [6]
    assert best_of(tmp_path) == 10
    run_task(options, figures[3:], **flags)
    whole = tmp_path / "whole"
    assert_same_bits(values(tmp_path / "run/best"), values(whole / "best"))
    lines = [
        [
            line | {"hours": 0}
            for line in history.read_history(run / "history.jsonl")
        ]
        for run in (whole, tmp_path / "run")
    ]
    assert lines[0] == lines[1]
    best = [line["best_step"] for line in lines[0] if "best_step" in line]
    assert best == [4, 10]


@pytest.fixture
def kept_policy():
    """Undoes what --mixed_precision sets for all models of the process."""
    policy = keras.config.dtype_policy()
    yield
    keras.config.set_dtype_policy(policy)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("evaluates", "accuracies", "place"),
    [
        pytest.param(
            True, [0.9, 0.8, 0.7], "best/model.ckpt-2", id="each epoch"
        ),
        pytest.param(False, [0.9], "model.ckpt-6", id="at the end"),
    ],
)
def test_the_folder_of_a_run_has_the_weights_that_it_exports(
    evaluates, accuracies, place, options, tmp_path, kept_policy
):
    run_task(
        options,
        accuracies,
        evaluate_each_epoch=evaluates,
        mixed_precision="float16",
    )
    run = tmp_path / "run"
    assert modeling.find_checkpoint(run) == str(run / place)
    config = modeling.load_config(run)
    model = modeling.BertClassifier(config, 2, dtype="float32")
    report = modeling.load_checkpoint(model, run)
    # Slots and the loss scale are not called unused.
    assert not report.unused and not report.missing
    exported = values(tmp_path / "weights/bert_model.ckpt")
    variables = modeling.named_variables(model)
    assert_same_bits(
        {name: variables[name].numpy() for name in exported}, exported
    )


def test_without_load_best_the_folder_of_a_run_has_the_last_weights(
    options, tmp_path
):
    """Every later command and `from_preset` use the weights that it scored."""
    run_task(options, [0.9, 0.8, 0.7], load_best=False)
    run = tmp_path / "run"
    last = STEPS_PER_EPOCH * 3
    assert modeling.find_checkpoint(run) == f"{run}/model.ckpt-{last}"
    model = modeling.BertClassifier.from_preset(run)
    expected = values(run, last)
    variables = modeling.named_variables(model)
    names = [name for name in expected if name in variables]
    assert_same_bits(
        {name: variables[name].numpy() for name in names if "seed" not in name},
        {name: expected[name] for name in names if "seed" not in name},
    )
    # A user may still ask for the best step.
    best = modeling.find_checkpoint(run, best=True)
    assert best == f"{run}/best/model.ckpt-{STEPS_PER_EPOCH}"
