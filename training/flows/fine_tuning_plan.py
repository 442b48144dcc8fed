"""Plans a command of fine-tuning: its steps, and what it records."""

import functools
import glob
import os

from data.sets.set_names import SetName, file_stem_of, is_base_set
from model_folders.model_json_types import TrainingSettings
from training.config.fine_tuning_config import FineTuningConfig
from training.config.training_config import NumSteps
from training.dev_set.recorded_sets import (
    DEV_SET_RULE,
    RECORDED_SETS,
    RecordedSet,
    RecordedSets,
)
from training.dev_set.rules import find_rule_to_record
from training.dev_set.set_checks import check_train_set
from training.flows.encoded_sets import compute_dev_set_checksum
from training.flows.trainer_setup import RunPlan
from training.preparation import resuming
from training.run_files import fingerprints
from training.task import AnyEncodedSet, AnyEncodedSets, AnyTask


def create_recorded_sets(
    config: FineTuningConfig, encoded_sets: AnyEncodedSets
) -> dict[str, RecordedSet]:
    """Returns {name in model.json: RecordedSet}, for model.json and the card.

    If a set is one file, which a flag names or which is alone in --data_dir,
    the checksum is that of the file. Otherwise it is that of the records.
    """
    recorded_sets = {}
    for set_name, encoded_set in encoded_sets.items():
        recorded_name = file_stem_of(set_name)
        if file := _find_only_file(config, set_name):
            name = os.path.basename(file)
            _, checksum = fingerprints.size_and_checksum(file)
        else:
            data = config.fine_tuning.data_dir or recorded_name
            name = f"{os.path.basename(os.path.normpath(data))}/{recorded_name}"
            checksum = encoded_set.checksum
        recorded_sets[recorded_name] = RecordedSet(
            recorded_name, name, encoded_set.num_examples, checksum
        )
    return recorded_sets


def _find_only_file(config: FineTuningConfig, set_name: SetName) -> str | None:
    """Returns the file of a set, None if the set has several or none."""
    files = config.files_of(set_name)
    if not files and config.fine_tuning.data_dir and is_base_set(set_name):
        folder = glob.escape(config.fine_tuning.data_dir)
        files = glob.glob(os.path.join(folder, f"{set_name}[.]*"))
    is_only_file = len(files) == 1 and os.path.isfile(files[0])
    return files[0] if is_only_file else None


def create_fine_tuning_plan(
    task: AnyTask,
    encoded_sets: AnyEncodedSets,
    recorded_sets: RecordedSets,
) -> RunPlan:
    """Plans the command, after `report_finding` has let the dev set pass.

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
    recorded_settings = start.recorded_settings
    if "train" in encoded_sets:
        settings = create_fine_tuning_settings(
            task, encoded_sets["train"], recorded_sets
        )
        check_train_set(
            start.preset,
            recorded_sets,
            settings["train_records"],
            has_table=start.dev_set_rule is not None,
        )
        resuming.check_resumed(task.config, start.preset, settings)
        recorded_settings = resuming.settings_to_record(
            task.config, start.preset, settings
        )
    return RunPlan(
        create_model=functools.partial(
            task.create_model, **task.config.network
        ),
        loss=task.loss,
        num_steps=num_steps,
        recorded_settings=recorded_settings,
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
    start = task.start
    settings: TrainingSettings = {
        **fingerprints.fingerprint_start(start),
        **task.settings,
        RECORDED_SETS: [*recorded_sets.values()],
    }
    if rule := find_rule_to_record(start.dev_set_rule, start.preset):
        settings[DEV_SET_RULE] = rule.to_entry()
    settings["train_records"] = fingerprints.fingerprint_files(
        train_set.records.files
    )
    return settings
