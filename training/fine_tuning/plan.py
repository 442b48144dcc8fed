"""Plans a fine-tuning when its sets are known, and checks a resumed run.

The number of steps and the settings to record depend on the records of the
sets, so `fine_tune` writes these first.
"""

import functools
import json
import zlib
from collections.abc import Mapping

from data.arrays import OutputsT
from data.sets.set_names import SetName
from model_folders.training_settings import (
    DEV_SET_RULE_ENTRY,
    SETS_ENTRY,
    TrainingInputs,
    TrainingSettings,
)
from training.config.fine_tuning_config import FineTuningConfig
from training.dev_set.rules import choose_dev_set_rule_to_record
from training.dev_set.set_fingerprints import SetFingerprints
from training.fine_tuning.encoded_sets import select_sets
from training.loop.run_plan import RunPlan
from training.preparation import resume_checks
from training.run_files.input_fingerprints import fingerprint_files
from training.run_files.settings_creation import create_training_settings
from training.task import (
    AnyEncodedSet,
    AnyEncodedSets,
    AnyFineTuningTask,
    ContextT,
    EncodedSet,
    ExampleT,
    FineTuningTask,
)


def plan_fine_tuning(
    task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
    encoded_sets: Mapping[SetName, EncodedSet[ExampleT, ContextT]],
    set_fingerprints: SetFingerprints,
) -> RunPlan:
    """Plans what the run trains and records, and checks a resumed run.

    A resumed run keeps its train set and its settings. A command that does not
    train resumes no run.

    Args:
        task: what to train and evaluate, and with which flags.
        encoded_sets: the sets of the command.
        set_fingerprints: the same sets, as model.json records them.

    Raises:
        ValueError: the training would be shorter than one step, or the run in
            --output_dir began with another train set or other settings.
        OSError: a file cannot be read.
    """
    starting_point = task.starting_point
    num_steps = None
    # Without training, the settings with which the weights were trained.
    training_settings = starting_point.training_settings
    if train_set := encoded_sets.get("train"):
        training_settings = collect_fine_tuning_settings(
            task, train_set, set_fingerprints
        )
        num_steps = task.config.num_steps(task.epoch_length(train_set))
        _check_resumed_run(task, training_settings, set_fingerprints)
    return RunPlan(
        create_model=functools.partial(
            task.create_model, **task.config.network_arguments
        ),
        loss=task.loss,
        num_steps=num_steps,
        training_settings=training_settings,
        labels=task.labels,
        label_alternatives=task.label_alternatives,
        dev_set_checksum=compute_dev_sets_checksum(task, encoded_sets),
    )


def _check_resumed_run(
    task: AnyFineTuningTask,
    training_settings: TrainingSettings,
    set_fingerprints: SetFingerprints,
) -> None:
    starting_point = task.starting_point
    resume_checks.check_resumed_train_set(
        starting_point.run_preset,
        set_fingerprints,
        training_settings.inputs["train_records"],
        has_table=starting_point.dev_set_rule is not None,
    )
    resume_checks.check_resumed_settings(
        task.config, starting_point.run_preset, training_settings
    )


def collect_fine_tuning_settings(
    task: AnyFineTuningTask,
    train_set: AnyEncodedSet,
    set_fingerprints: SetFingerprints,
) -> TrainingSettings:
    """Collects all settings of a training, as model.json records them.

    Reads the records of the train set and the checkpoints of the flags, for
    their checksums.

    Args:
        task: the task, with its `fixed_head_settings`.
        train_set: the set to train on.
        set_fingerprints: the sets of the command, as model.json records them.

    Raises:
        ValueError: the folder of the initial weights has an incomplete rule of
            its dev set, or a network that is not a BERT.
        OSError: a file cannot be read.
    """
    starting_point = task.starting_point
    data_inputs: TrainingInputs = {SETS_ENTRY: [*set_fingerprints.values()]}
    dev_set_rule = choose_dev_set_rule_to_record(
        starting_point.dev_set_rule, starting_point.preset
    )
    if dev_set_rule:
        data_inputs[DEV_SET_RULE_ENTRY] = dev_set_rule.to_entry()
    data_inputs["train_records"] = fingerprint_files(train_set.records.files)
    return create_training_settings(
        starting_point, task.fixed_head_settings, data_inputs
    )


def compute_dev_sets_checksum(
    task: AnyFineTuningTask, encoded_sets: AnyEncodedSets
) -> int:
    """Returns a checksum of all that scores depend on, except the weights.

    Returns 0 if the command evaluates no set. Evaluations with different
    checksums are not comparable.

    Raises:
        OSError: a file with the right answers cannot be read.
    """
    dev_sets = select_sets(encoded_sets, task.dev_sets)
    if not dev_sets:
        return 0
    scored = [
        [encoded_set.checksum for encoded_set in dev_sets],
        list(task.labels or ()),
        *fingerprint_files(task.scoring.eval_files),
    ]
    return zlib.crc32(json.dumps(scored).encode())
