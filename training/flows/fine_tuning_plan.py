"""Plans a command of fine-tuning: its sets, its steps, and what it records."""

import dataclasses
import functools
import glob
import json
import os
import zlib
from typing import Generic

from data.io import record_datasets
from data.sets.set_names import SetName, file_stem_of, is_base_set
from files.paths import StrPath
from model_folders.model_json_types import TrainingSettings
from training.config.fine_tuning_config import FineTuningConfig
from training.config.training_config import NumSteps
from training.dev_set.rules import RULE_ENTRY, find_rule_to_record
from training.dev_set.set_checks import (
    DevSetFinding,
    check_train_set,
    compare_dev_set,
    report_finding,
)
from training.dev_set.set_fingerprints import (
    SETS_ENTRY,
    SetFingerprint,
    SetFingerprints,
)
from training.flows.encoded_sets import select_sets, write_encoded_sets
from training.flows.trainer_creation import RunPlan
from training.preparation import resuming
from training.preparation.starting_point import StartingPoint
from training.run_files import fingerprints
from training.task import (
    AnyEncodedSets,
    AnyTask,
    EncodedSet,
    EncodedSets,
    ExampleT,
    FineTuningTask,
    OriginT,
    OutputsT,
)


@dataclasses.dataclass(frozen=True)
class FineTuningPlan(Generic[ExampleT, OriginT]):
    """The sets that a command has read, and what it will do with them.

    Attributes:
        encoded_sets: the sets of the command.
        finding: whether the scores on the dev set may be trusted.
        run_plan: how to create the Trainer, and what to record.
    """

    encoded_sets: EncodedSets[ExampleT, OriginT]
    finding: DevSetFinding
    run_plan: RunPlan

    @property
    def records(self) -> list[record_datasets.Records]:
        """Paths and format of the records of all sets."""
        return [
            encoded_set.records for encoded_set in self.encoded_sets.values()
        ]

    @property
    def may_write_scores(self) -> bool:
        """Whether the scores are those of the run, see `DevSetCase`."""
        return self.finding.case.may_write_scores


def prepare_fine_tuning(
    task: FineTuningTask[ExampleT, OriginT, OutputsT], folder: StrPath
) -> FineTuningPlan[ExampleT, OriginT]:
    """Reads, writes and checks the sets of a command, and plans what follows.

    Args:
        task: what to train and evaluate, and with which flags.
        folder: folder for the records, as in `write_encoded_sets`.

    Raises:
        ValueError: a line is malformed, or the dev set may not be used. Or the
            run in --output_dir began with another train set or other settings.
            Or the training would be shorter than one step.
        OSError: a file is missing or cannot be written.
    """
    encoded_sets = write_encoded_sets(task, folder)
    set_fingerprints = _fingerprint_sets(task.config, encoded_sets)
    finding = compare_dev_set(
        task.config,
        task.start.preset,
        task.start.dev_set_rule,
        set_fingerprints,
    )
    report_finding(finding)
    return FineTuningPlan(
        encoded_sets=encoded_sets,
        finding=finding,
        run_plan=create_fine_tuning_run_plan(
            task, encoded_sets, set_fingerprints
        ),
    )


def _fingerprint_sets(
    config: FineTuningConfig, encoded_sets: AnyEncodedSets
) -> dict[str, SetFingerprint]:
    """Identifies the sets of a command, for model.json and the card.

    If a set is one file, which a flag names or which is alone in --data_dir,
    this function reads the file for its checksum. Otherwise the checksum is
    that of the records.

    Returns:
        {name in model.json: SetFingerprint}.
    """
    set_fingerprints = {}
    for set_name, encoded_set in encoded_sets.items():
        recorded_name = file_stem_of(set_name)
        if file := _find_only_file(config, set_name):
            name = os.path.basename(file)
            _, checksum = fingerprints.size_and_checksum(file)
        else:
            data = config.fine_tuning.data_dir or recorded_name
            name = f"{os.path.basename(os.path.normpath(data))}/{recorded_name}"
            checksum = encoded_set.checksum
        set_fingerprints[recorded_name] = SetFingerprint(
            recorded_name, name, encoded_set.num_examples, checksum
        )
    return set_fingerprints


def _find_only_file(config: FineTuningConfig, set_name: SetName) -> str | None:
    """Returns the file of a set, None if the set has several or none."""
    files = config.files_of(set_name)
    if not files and config.fine_tuning.data_dir and is_base_set(set_name):
        folder = glob.escape(config.fine_tuning.data_dir)
        files = glob.glob(os.path.join(folder, f"{set_name}[.]*"))
    is_only_file = len(files) == 1 and os.path.isfile(files[0])
    return files[0] if is_only_file else None


def create_fine_tuning_run_plan(
    task: AnyTask,
    encoded_sets: AnyEncodedSets,
    set_fingerprints: SetFingerprints,
) -> RunPlan:
    """Checks what a resumed run goes on with, and plans the run.

    Args:
        task: what to train and evaluate, and with which flags.
        encoded_sets: the sets of the command.
        set_fingerprints: the same sets, as model.json records them.

    Raises:
        ValueError: the run in --output_dir began with another train set or
            other settings. Or the training would be shorter than one step.
        OSError: a file cannot be read.
    """
    start = task.start
    num_steps = None
    # Without training, those of the weights' training.
    training_settings = start.training_settings
    if train_set := encoded_sets.get("train"):
        settings = collect_fine_tuning_settings(
            task, train_set, set_fingerprints
        )
        _check_resumed_fine_tuning(start, set_fingerprints, settings)
        num_steps = _compute_num_steps(task, train_set)
        training_settings = resuming.create_training_settings(
            task.config, start.preset, settings
        )
    return RunPlan(
        create_model=functools.partial(
            task.create_model, **task.config.network
        ),
        loss=task.loss,
        num_steps=num_steps,
        training_settings=training_settings,
        dev_set_checksum=compute_dev_set_checksum(task, encoded_sets),
    )


def collect_fine_tuning_settings(
    task: AnyTask,
    train_set: EncodedSet[object, object],
    set_fingerprints: SetFingerprints,
) -> TrainingSettings:
    """Collects the settings of the training besides the flags, for model.json.

    Reads the records of the train set and the checkpoints of the flags, for
    their checksums.

    Args:
        task: the task, with its settings.
        train_set: the set to train on.
        set_fingerprints: the sets of the command, as model.json records them.

    Raises:
        ValueError: the folder of the initial weights states a rule of its dev
            set that is incomplete, or a network that is not a BERT.
        OSError: a file cannot be read.
    """
    start = task.start
    settings: TrainingSettings = {
        **fingerprints.fingerprint_start(start),
        **task.settings,
        SETS_ENTRY: [*set_fingerprints.values()],
    }
    if rule := find_rule_to_record(start.dev_set_rule, start.preset):
        settings[RULE_ENTRY] = rule.to_entry()
    settings["train_records"] = fingerprints.fingerprint_files(
        train_set.records.files
    )
    return settings


def _check_resumed_fine_tuning(
    start: StartingPoint[FineTuningConfig],
    set_fingerprints: SetFingerprints,
    settings: TrainingSettings,
) -> None:
    """Checks that a resumed run goes on with what it began with.

    Args:
        start: StartingPoint of the command.
        set_fingerprints: the sets of the command.
        settings: result of `collect_fine_tuning_settings`.

    Raises:
        ValueError: the run in --output_dir began with another train set or
            other settings.
    """
    check_train_set(
        start.preset,
        set_fingerprints,
        settings["train_records"],
        has_table=start.dev_set_rule is not None,
    )
    resuming.check_resumed(start.config, start.preset, settings)


def _compute_num_steps(
    task: AnyTask, train_set: EncodedSet[object, object]
) -> NumSteps:
    """Returns the numbers of training and warmup steps.

    Raises:
        ValueError: the training would be shorter than one step.
    """
    if task.counts_examples:
        return task.config.num_steps(train_set.num_examples)
    return task.config.num_steps(train_set.num_records)


def compute_dev_set_checksum(
    task: AnyTask, encoded_sets: AnyEncodedSets
) -> int:
    """Returns a checksum of all that the dev set's scores depend on, or 0."""
    dev_sets = select_sets(encoded_sets, task.dev_sets)
    if not dev_sets:
        return 0
    scored = [
        [encoded_set.checksum for encoded_set in dev_sets],
        list(task.labels or ()),
        *fingerprints.fingerprint_files(task.eval_files),
    ]
    return zlib.crc32(json.dumps(scored).encode())
