"""Plans a command of fine-tuning: its steps, its settings, its dev set."""

import functools

from model_folders.model_json_types import TrainingSettings
from training.config.training_config import NumSteps
from training.dev_set.recorded_sets import (
    DEV_SET_RULE,
    RECORDED_SETS,
    RecordedSets,
)
from training.dev_set.rules import find_rule_to_record
from training.dev_set.set_checks import check_train_set
from training.flows.encoded_sets import compute_dev_set_checksum
from training.flows.run_plan import RunPlan
from training.preparation import resuming
from training.run_files.fingerprints import fingerprint_files, fingerprint_start
from training.task import AnyEncodedSet, AnyEncodedSets, AnyTask


def create_fine_tuning_plan(
    task: AnyTask,
    encoded_sets: AnyEncodedSets,
    recorded_sets: RecordedSets,
) -> RunPlan:
    """Plans the command, after `check_dev_set` accepted the dev set.

    Args:
        task: what to train and evaluate, and with which flags.
        encoded_sets: the sets of the command.
        recorded_sets: the same sets, as model.json records them.

    Raises:
        ValueError: the training would be shorter than one step, or the run in
            --output_dir began with another train set or other settings.
    """
    start = task.start
    num_steps = _compute_num_steps(task, encoded_sets)
    # Without training, those of the weights' training.
    settings = start.recorded_settings
    if "train" in encoded_sets:
        current_settings = create_fine_tuning_settings(
            task, encoded_sets["train"], recorded_sets
        )
        check_train_set(
            start.preset,
            recorded_sets,
            current_settings["train_records"],
            has_table=start.dev_set_rule is not None,
        )
        resuming.check_resumed(task.config, start.preset, current_settings)
        settings = resuming.settings_to_record(
            task.config, start.preset, current_settings
        )
    return RunPlan(
        create_model=functools.partial(
            task.create_model, **task.config.network
        ),
        loss=task.loss,
        num_steps=num_steps,
        settings=settings,
        dev_set_checksum=compute_dev_set_checksum(task, encoded_sets),
    )


def _compute_num_steps(
    task: AnyTask,
    encoded_sets: AnyEncodedSets,
) -> NumSteps | None:
    """Returns the numbers of training and warmup steps, None if not training.

    Raises:
        ValueError: the training would be shorter than one step.
    """
    if "train" not in encoded_sets:
        return None
    train_set = encoded_sets["train"]
    if task.counts_examples:
        return task.config.num_steps(train_set.num_examples)
    return task.config.num_steps(train_set.num_records)


def create_fine_tuning_settings(
    task: AnyTask,
    train_set: AnyEncodedSet,
    recorded_sets: RecordedSets,
) -> TrainingSettings:
    """Returns the settings of the training, for model.json.

    Args:
        task: the task, with its settings.
        train_set: the set to train on.
        recorded_sets: the sets of the command.
    """
    settings: TrainingSettings = {
        **fingerprint_start(task.start),
        **task.settings,
        RECORDED_SETS: [*recorded_sets.values()],
    }
    start = task.start
    if rule := find_rule_to_record(start.dev_set_rule, start.preset):
        settings[DEV_SET_RULE] = rule.to_entry()
    settings["train_records"] = fingerprint_files(train_set.records.files)
    return settings
