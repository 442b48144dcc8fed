"""What a fine-tuning plans before its model exists: steps and settings."""

import pytest

import modeling
from model_folders.training_settings import SETS_ENTRY
from tests.support.models import SMALL, TINY
from tests.support.tasks.run_settings import begin_run, touch_checkpoint
from tests.support.tasks.toy_task import (
    ToyTask,
    TwoRecordsTask,
    create_command,
    create_config,
    create_run_flags,
    create_starting_point,
    load_tokenizer,
    run_task,
)
from training.config.training_config import NumSteps
from training.dev_set.set_fingerprints import SetFingerprint
from training.fine_tuning.encoded_sets import (
    fingerprint_sets,
    write_encoded_sets,
)
from training.fine_tuning.plan import (
    collect_fine_tuning_settings,
    compute_dev_sets_checksum,
    plan_fine_tuning,
)
from training.preparation.starting_point_loading import load_starting_point
from training.task import Scoring


class LabeledTask(ToyTask):
    """A task of 12 examples that records the names of its labels."""

    def __init__(self, starting_point):
        super().__init__(
            starting_point,
            labels=("no", "yes"),
            fixed_head_settings={"output_mode": "classification"},
        )


class OtherExamplesTask(LabeledTask):
    """The task with other examples under the same names."""

    def label(self, number):
        return 0


def create_task(folder, task_class=LabeledTask, do_train=True, **changes):
    """Returns a task whose run is in FOLDER/run."""
    flags = create_run_flags(folder, do_train=do_train, **changes)
    return task_class(load_starting_point(create_command(flags)))


def plan_task(task, folder):
    """Plans a task and checks its plan, as `fine_tune` does."""
    encoded_sets = write_encoded_sets(task, folder / "records")
    set_fingerprints = fingerprint_sets(task.config, encoded_sets)
    return plan_fine_tuning(task, encoded_sets, set_fingerprints)


def create_plan(folder, task_class=LabeledTask, do_train=True, **flags):
    """Returns the plan of a command whose run is in FOLDER/run."""
    return plan_task(create_task(folder, task_class, do_train, **flags), folder)


@pytest.mark.parametrize(
    ("epochs", "warmup", "expected"),
    [
        (1, 0.0, NumSteps(training=3, warmup=0, between_evaluations=3)),
        (2, 0.5, NumSteps(training=6, warmup=3, between_evaluations=3)),
    ],
)
def test_the_steps_are_those_of_the_records(tmp_path, epochs, warmup, expected):
    """An epoch of 12 records is 3 batches of 4."""
    plan = create_plan(
        tmp_path, num_train_epochs=epochs, warmup_proportion=warmup
    )
    assert plan.num_steps == expected


def test_a_task_of_two_records_an_example_counts_steps_by_examples(tmp_path):
    plan = create_plan(tmp_path, TwoRecordsTask, num_train_epochs=1)
    assert plan.num_steps.training == 3


def test_a_training_shorter_than_one_step_is_refused(tmp_path):
    with pytest.raises(ValueError, match="--num_train_epochs"):
        create_plan(tmp_path, num_train_epochs=0.1)


@pytest.fixture
def begun_run(tmp_path):
    """(folder of a run that wrote a checkpoint, the settings of its plan)."""
    task = create_task(tmp_path)
    training_settings = plan_task(task, tmp_path).training_settings
    model = modeling.BertClassifier(modeling.BertConfig(**TINY), 2)
    begin_run(task.config, model, training_settings)
    touch_checkpoint(tmp_path / "run")
    return tmp_path, training_settings


def test_a_command_that_does_not_train_has_no_steps(begun_run):
    folder, _ = begun_run
    plan = create_plan(folder, do_train=False, do_eval=True)
    assert plan.num_steps is None


def test_a_command_that_does_not_train_keeps_the_settings(begun_run):
    folder, training_settings = begun_run
    plan = create_plan(folder, do_train=False, do_eval=True)
    records = training_settings.inputs["train_records"]
    assert plan.training_settings.inputs["train_records"] == [
        [*record] for record in records
    ]


def test_a_resume_on_other_examples_is_refused(begun_run):
    folder, _ = begun_run
    with pytest.raises(ValueError, match="data/train has changed"):
        create_plan(folder, OtherExamplesTask)


def test_a_resume_on_the_same_examples_passes(begun_run):
    folder, _ = begun_run
    assert create_plan(folder).num_steps


class ProcessorTask(ToyTask):
    """A task that records settings which a `LabeledTask` does not have."""

    def __init__(self, starting_point):
        super().__init__(
            starting_point,
            fixed_head_settings={
                "class_weights": {"no": 1.0, "yes": 3.0},
                "processor": "mine.py:Processor",
            },
        )


@pytest.fixture
def other_run(tmp_path):
    """Folder of a run of a `ProcessorTask`, which was trained for a step."""
    folder = tmp_path / "other"
    folder.mkdir()
    flags = create_run_flags(
        folder, do_train=True, num_train_epochs=0.4, max_seq_length=8
    )
    run_task(ProcessorTask, flags)
    return folder / "run"


def test_a_new_run_records_no_settings_of_the_run_it_starts_from(
    tmp_path, other_run
):
    plan = create_plan(tmp_path, init_checkpoint=str(other_run))
    settings = plan.training_settings
    assert settings.inputs["init_checkpoint"] is not None
    assert not settings.head.keys() & {"class_weights", "processor"}


TRAIN_SET = SetFingerprint("train", "train.csv", 12, 5)


def settings_of(folder, task_class=LabeledTask, **flags):
    """Returns the settings of a training on TRAIN_SET."""
    task = create_task(folder, task_class, **flags)
    encoded_sets = write_encoded_sets(task, folder / "records")
    return collect_fine_tuning_settings(
        task, encoded_sets["train"], {"train": TRAIN_SET}
    )


def test_the_settings_include_those_of_the_task(tmp_path):
    assert settings_of(tmp_path).head["output_mode"] == "classification"


def test_the_settings_include_the_sets(tmp_path):
    assert settings_of(tmp_path).inputs[SETS_ENTRY] == [[*TRAIN_SET]]


def test_the_settings_state_the_network_that_begins_at_random(tmp_path):
    inputs = settings_of(tmp_path).inputs
    assert inputs["bert_config"]["num_hidden_layers"] == 1
    assert inputs["init_checkpoint"] is None


def test_records_of_the_same_examples_have_one_fingerprint(tmp_path):
    first = settings_of(tmp_path).inputs["train_records"]
    assert settings_of(tmp_path).inputs["train_records"] == first


def test_records_of_other_examples_have_another_fingerprint(tmp_path):
    first = settings_of(tmp_path).inputs["train_records"]
    other = settings_of(tmp_path, OtherExamplesTask).inputs["train_records"]
    assert other != first


@pytest.fixture
def checksum(tmp_path):
    """(folder="a", **changes of the task) -> checksum of its dev set."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    def checksum(folder="a", **changes):
        config = create_config(tmp_path / folder, do_eval=True)
        starting_point = create_starting_point(config, SMALL, load_tokenizer())
        task = ToyTask(starting_point)
        for name, value in changes.items():
            setattr(task, name, value)
        encoded_sets = write_encoded_sets(task, tmp_path / folder / "state")
        return compute_dev_sets_checksum(task, encoded_sets)

    return checksum


@pytest.fixture
def answers(tmp_path):
    """A file that the scores on the dev set come from."""
    path = tmp_path / "dev.json"
    path.write_text("{}")
    return path


def scored_by(answers):
    """Returns the Scoring of a task whose right answers are in a file."""
    return Scoring(("accuracy",), eval_files=[str(answers)])


def test_a_dev_set_is_the_same_in_another_run(checksum, answers):
    expected = checksum("a", scoring=scored_by(answers))
    assert checksum("b", scoring=scored_by(answers)) == expected


def test_a_dev_set_is_the_same_in_another_order(checksum, answers):
    """SQuAD's dev set is in another order where padding is left out."""
    expected = checksum(scoring=scored_by(answers))
    backwards = checksum(
        scoring=scored_by(answers),
        take_examples=lambda set_name: range(12)[::-1],
    )
    assert backwards == expected


@pytest.mark.parametrize(
    "changes",
    [{"label": lambda number: number < 6}, {"labels": ["1", "0"]}],
    ids=["labels of examples", "order of labels"],
)
def test_a_dev_set_of_other_labels_is_another(checksum, answers, changes):
    expected = checksum(scoring=scored_by(answers))
    assert checksum(scoring=scored_by(answers), **changes) != expected


def test_a_dev_set_without_its_answers_is_another(checksum, answers):
    assert checksum() != checksum(scoring=scored_by(answers))


def test_a_dev_set_of_changed_answers_is_another(checksum, answers):
    before = checksum(scoring=scored_by(answers))
    answers.write_text("[]")
    assert checksum(scoring=scored_by(answers)) != before
