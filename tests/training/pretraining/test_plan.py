"""What a pretraining plans before its model exists: steps and settings."""

import dataclasses

import pytest

import modeling
from data.io import record_datasets
from data.io.tfrecords import RecordWriter
from model_folders.reading.preset import Preset
from tests.support import models
from tests.support.tasks import toy_task
from training.config.pretraining_config import PretrainingConfig
from training.config.training_config import NumSteps
from training.pretraining.plan import (
    compute_dev_records_checksum,
    plan_pretraining,
)
from training.pretraining.records import PretrainingRecords, fingerprint_dev_set
from training.starting_point import InitialFolder


@pytest.fixture
def write_records(tmp_path):
    """A function (name, text) -> path of a file of records."""

    def write_file(name, text="records"):
        path = tmp_path / name
        with RecordWriter([path]) as writer:
            writer.write(text.encode())
        return str(path)

    return write_file


def create_starting_point(run_preset=None, **flags):
    """Returns the start of a pretraining in the folder `run`."""
    config = PretrainingConfig.from_values(output_dir="run", **flags)
    starting_point = toy_task.create_starting_point(config, models.SMALL)
    initial_folder = InitialFolder(run_preset, is_own_run=bool(run_preset))
    return dataclasses.replace(starting_point, initial_folder=initial_folder)


def fingerprint_records(starting_point):
    """Returns what identifies the dev set of --eval_input_file."""
    pretraining = starting_point.config.pretraining
    dev_set = pretraining.eval_input_file or pretraining.input_file
    records = PretrainingRecords(
        record_datasets.Records([pretraining.input_file], {}),
        record_datasets.Records([dev_set], {}),
    )
    return fingerprint_dev_set(starting_point.config, records)


def create_plan(starting_point):
    """Plans a command and checks its plan, as `pretrain` does."""
    records = record_datasets.Records(
        [starting_point.config.pretraining.input_file], {}
    )
    return plan_pretraining(
        starting_point, records, fingerprint_records(starting_point)
    )


def plan_training(train, run_preset=None, dev_set=None, **flags):
    """Returns the plan of a training on files of records."""
    starting_point = create_starting_point(
        run_preset,
        input_file=train,
        eval_input_file=dev_set,
        do_train=True,
        **flags,
    )
    return create_plan(starting_point)


def checksum_of(dev_set, train="train", **flags):
    """Returns the checksum of a dev set, a file of records."""
    starting_point = create_starting_point(
        input_file=train, eval_input_file=dev_set, **flags
    )
    return compute_dev_records_checksum(
        starting_point.config, fingerprint_records(starting_point)
    )


def run_of(plan):
    """Returns the run in `run`, which began with the settings of a plan."""
    return Preset(
        "run",
        weights_path="run",
        source="--output_dir=run",
        training_settings=plan.training_settings,
    )


def test_the_steps_are_those_of_the_flags(write_records):
    plan = plan_training(
        write_records("train"),
        num_train_steps=20,
        num_warmup_steps=4,
        eval_steps=5,
    )
    assert plan.num_steps == NumSteps(
        training=20, warmup=4, between_evaluations=5
    )


def test_a_command_that_does_not_train_has_no_steps(write_records):
    train = write_records("train")
    plan = create_plan(create_starting_point(input_file=train, do_eval=True))
    assert plan.num_steps is None


def test_a_command_that_does_not_train_keeps_the_settings(write_records):
    train = write_records("train")
    run = run_of(plan_training(train))
    starting_point = create_starting_point(run, input_file=train, do_eval=True)
    assert (
        create_plan(starting_point).training_settings == run.training_settings
    )


def test_the_loss_has_the_terms_that_the_flags_ask_for(write_records):
    train = write_records("train")
    both = plan_training(train).loss.term_names
    alone = plan_training(train, next_sentence=False).loss.term_names
    assert {*both} - {*alone} == {"next_sentence_loss"}


def test_the_model_is_a_pretrainer(write_records):
    model = plan_training(write_records("train")).create_model(models.SMALL)
    assert isinstance(model, modeling.BertPretrainer)


def test_a_run_resumes_on_its_records(write_records):
    train = write_records("train")
    plan = plan_training(train)
    resumed = plan_training(train, run_of(plan))
    assert resumed.training_settings == plan.training_settings


def test_a_resume_on_other_records_is_refused(write_records):
    run = run_of(plan_training(write_records("train")))
    says = "--input_file: .* other records than other"
    with pytest.raises(ValueError, match=says):
        plan_training(write_records("other", "others"), run)


def test_a_resume_with_another_dev_set_is_refused(write_records):
    train = write_records("train")
    run = run_of(plan_training(train, dev_set=write_records("dev")))
    with pytest.raises(ValueError, match="--eval_input_file: the run in run"):
        plan_training(train, run, dev_set=write_records("other", "others"))


def test_scores_on_the_same_dev_set_may_be_compared(write_records):
    dev = write_records("dev")
    assert checksum_of(dev, train="more") == checksum_of(dev)


@pytest.mark.parametrize(
    ("dev_set", "flags"),
    [
        pytest.param("other", {}, id="other records"),
        pytest.param("dev", {"max_eval_steps": 3}, id="fewer batches"),
    ],
)
def test_scores_on_another_dev_set_may_not_be_compared(
    write_records, dev_set, flags
):
    paths = {
        "dev": write_records("dev"),
        "other": write_records("other", "others"),
    }
    assert checksum_of(paths[dev_set], **flags) != checksum_of(paths["dev"])
