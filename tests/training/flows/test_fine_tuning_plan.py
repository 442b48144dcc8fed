"""What a fine-tuning plans before its model exists: steps and settings."""

import pytest

import modeling
from tests.support.models import TINY
from tests.support.tasks.run_settings import begin_run, touch_checkpoint
from tests.support.tasks.toy_task import ToyTask, create_command, create_run
from training.config.training_config import NumSteps
from training.dev_set.recorded_sets import RECORDED_SETS, RecordedSet
from training.flows.encoded_sets import write_encoded_sets
from training.flows.fine_tuning_plan import (
    check_resumed_training,
    collect_settings,
    create_fine_tuning_plan,
    fingerprint_sets,
)
from training.preparation.starting_point import read_start


class LabeledTask(ToyTask):
    """A task of 12 examples that records the names of its labels."""

    labels = ("no", "yes")

    def __init__(self, start):
        super().__init__(start)
        self.settings = {"output_mode": "classification"}


class TwoRecordsTask(ToyTask):
    """A task whose examples have two records each, and count by themselves."""

    counts_examples = True

    def encode(self, set_name, examples):
        for record in super().encode(set_name, examples):
            yield record
            yield record


class OtherExamplesTask(LabeledTask):
    """The task with other examples under the same names."""

    def label(self, number):
        return 0


def read_task(folder, task_class=LabeledTask, do_train=True, **flags):
    """Returns a task whose run is in FOLDER/run, and its sets."""
    options = create_run(folder, do_train=do_train, **flags)
    task = task_class(read_start(create_command(options)))
    (folder / "records").mkdir(exist_ok=True)
    return task, write_encoded_sets(task, folder / "records")


def create_plan(task, encoded_sets):
    """Returns the plan of a command on the sets of a task."""
    recorded_sets = fingerprint_sets(task.config, encoded_sets)
    settings = collect_settings(task, encoded_sets, recorded_sets)
    return create_fine_tuning_plan(task, encoded_sets, settings)


def check_resume(task, encoded_sets):
    """Checks a command that resumes a run, as `fine_tune` does."""
    recorded_sets = fingerprint_sets(task.config, encoded_sets)
    settings = collect_settings(task, encoded_sets, recorded_sets)
    check_resumed_training(task.start, recorded_sets, settings)


@pytest.mark.parametrize(
    ("epochs", "warmup", "expected"),
    [
        (1, 0.0, NumSteps(training=3, warmup=0)),
        (2, 0.5, NumSteps(training=6, warmup=3)),
    ],
)
def test_the_steps_are_those_of_the_records(tmp_path, epochs, warmup, expected):
    """An epoch of 12 records is 3 batches of 4."""
    plan = create_plan(
        *read_task(tmp_path, num_train_epochs=epochs, warmup_proportion=warmup)
    )
    assert plan.num_steps == expected


def test_the_steps_of_a_task_that_counts_examples_are_those_of_examples(
    tmp_path,
):
    plan = create_plan(*read_task(tmp_path, TwoRecordsTask, num_train_epochs=1))
    assert plan.num_steps.training == 3


def test_a_training_shorter_than_one_step_is_refused(tmp_path):
    task, encoded_sets = read_task(tmp_path, num_train_epochs=0.1)
    with pytest.raises(ValueError, match="--num_train_epochs"):
        create_plan(task, encoded_sets)


@pytest.fixture
def begun_run(tmp_path):
    """(folder of a run that wrote a checkpoint, the settings of its plan)."""
    task, encoded_sets = read_task(tmp_path)
    plan = create_plan(task, encoded_sets)
    model = modeling.BertClassifier(modeling.BertConfig(**TINY), 2)
    begin_run(task.config, model, plan.recorded_settings)
    touch_checkpoint(tmp_path / "run")
    return tmp_path, plan.recorded_settings


def test_a_command_that_does_not_train_has_no_steps(begun_run):
    folder, _ = begun_run
    plan = create_plan(*read_task(folder, do_train=False, do_eval=True))
    assert plan.num_steps is None


def test_a_command_that_does_not_train_keeps_the_settings(begun_run):
    folder, settings = begun_run
    plan = create_plan(*read_task(folder, do_train=False, do_eval=True))
    records = settings["train_records"]
    assert plan.recorded_settings["train_records"] == [
        [*record] for record in records
    ]


def test_a_resume_on_other_examples_is_refused(begun_run):
    folder, _ = begun_run
    with pytest.raises(ValueError, match="data/train has changed"):
        check_resume(*read_task(folder, OtherExamplesTask))


def test_a_resume_on_the_same_examples_passes(begun_run):
    folder, _ = begun_run
    check_resume(*read_task(folder))


TRAIN_SET = RecordedSet("train", "train.csv", 12, 5)


def settings_of(folder, task_class=LabeledTask, **flags):
    """Returns the settings of a training on TRAIN_SET."""
    task, encoded_sets = read_task(folder, task_class, **flags)
    return collect_settings(task, encoded_sets, {"train": TRAIN_SET})


def test_the_settings_include_those_of_the_task(tmp_path):
    assert settings_of(tmp_path)["output_mode"] == "classification"


def test_the_settings_include_the_sets(tmp_path):
    assert settings_of(tmp_path)[RECORDED_SETS] == [TRAIN_SET]


def test_the_settings_state_the_network_that_begins_at_random(tmp_path):
    settings = settings_of(tmp_path)
    assert settings["bert_config"]["num_hidden_layers"] == 1
    assert settings["init_checkpoint"] is None


def test_records_of_the_same_examples_have_one_fingerprint(tmp_path):
    first = settings_of(tmp_path)["train_records"]
    assert settings_of(tmp_path)["train_records"] == first


def test_records_of_other_examples_have_another_fingerprint(tmp_path):
    first = settings_of(tmp_path)["train_records"]
    other = settings_of(tmp_path, OtherExamplesTask)["train_records"]
    assert other != first
