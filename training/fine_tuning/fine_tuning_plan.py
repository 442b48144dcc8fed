"""Plans a command of fine-tuning: its steps, its settings, its dev set."""

import functools
from collections.abc import Mapping

from model_folders.model_entries import TrainingSettings
from model_folders.recorded_sets import (
    DEV_SET_RULE,
    RECORDED_SETS,
    RecordedSet,
)
from training import beginning
from training.run import resuming
from training.run.fingerprints import fingerprint_files, settings_of_start
from training.sets import dev_set_rule, trained_rows
from training.sets.splits import create_recorded_sets, dev_set_checksum
from training.task import ExampleT, OriginT, OutputsT, Split, Splits, Task
from training.training_config import NumSteps


def create_plan(
    task: Task[ExampleT, OriginT, OutputsT], splits: Splits[ExampleT, OriginT]
) -> beginning.Plan:
    """Checks the rows of the splits, and plans what to do with them.

    Raises:
        ValueError: the dev set contains rows that the weights were trained on,
            the training would be shorter than one step, or the run in
            --output_dir began with other settings.
    """
    start = task.start
    sets = create_recorded_sets(task.config, splits)
    trained_rows.check_dev_set(start, sets)
    trained_rows.warn_of_dev_set(start, sets)
    other_run = trained_rows.find_run_with_other_dev_set(start, sets)
    if other_run:
        trained_rows.log_that_scores_are_not_written(other_run)
    num_steps = _find_num_steps(task, splits)
    settings_to_record = start.recorded_settings
    if "train" in splits:
        settings = list_settings(task, splits["train"], sets)
        trained_rows.check_train_set(start, sets, settings["train_records"])
        resuming.check_resumed(task.config, start.preset, settings)
        settings_to_record = resuming.settings_to_record(
            task.config, start.preset, settings
        )
    return beginning.Plan(
        create_model=functools.partial(
            task.create_model, **task.config.network
        ),
        loss=task.loss,
        num_steps=num_steps,
        settings=settings_to_record,
        dev_set_checksum=dev_set_checksum(task, splits),
        output_names=task.output_names,
        prefers_best=task.config.loads_best,
        writes_scores=other_run is None,
    )


def _find_num_steps(
    task: Task[ExampleT, OriginT, OutputsT], splits: Splits[ExampleT, OriginT]
) -> NumSteps | None:
    """Returns the numbers of training and warmup steps, None if not training.

    Raises:
        ValueError: the training would be shorter than one step.
    """
    if "train" not in splits:
        return None
    train_set = splits["train"]
    if task.counts_examples:
        return task.config.num_steps(train_set.num_examples)
    return task.config.num_steps(train_set.num_records)


def list_settings(
    task: Task[ExampleT, OriginT, OutputsT],
    train_set: Split[ExampleT, OriginT],
    sets: Mapping[str, RecordedSet],
) -> TrainingSettings:
    """Returns the settings of the training, for model.json.

    `sets` is the result of `create_recorded_sets`.
    """
    settings: TrainingSettings = {
        **settings_of_start(task.start),
        **task.settings,
        RECORDED_SETS: [*sets.values()],
    }
    if rule := dev_set_rule.find_rule_to_record(task.start):
        settings[DEV_SET_RULE] = rule.as_settings()
    settings["train_records"] = fingerprint_files(train_set.records.files)
    return settings
