"""Compares a command's sets with those that its weights were trained on.

The sets are those of the run that the command continues, evaluates or starts
from. First come the checks and warnings about the dev set, which may contain
rows of that run's train set. Then comes the check of the train set, which a
resumed run must read again. This module imports no TensorFlow.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from absl import logging

from model_folders.model_entries import Fingerprint
from model_folders.presets import Preset
from model_folders.recorded_sets import RecordedSet
from training.config.fine_tuning_config import (
    DataFileConfig,
    FineTuningConfig,
)
from training.sets.dev_set_rule import has_data_file
from training.start.starting_point import StartingPoint

# {split name: its set}, the result of `splits.create_recorded_sets`.
RecordedSets: TypeAlias = Mapping[str, RecordedSet]


def check_dev_set(
    start: StartingPoint[FineTuningConfig], sets: RecordedSets
) -> None:
    """Checks that a run is not evaluated on the file that it was trained on.

    For example, the run was trained on train.csv, and the dev.csv of --data_dir
    is a copy of it.

    Args:
        start: what the command starts from.
        sets: the sets of the command.

    Raises:
        ValueError: the dev set is the file of the run's train set.
    """
    if not start.is_own_run or start.config.training.do_train:
        return
    if overlap := _describe_trained_file(start, sets):
        raise ValueError(
            f"{overlap}. Nothing is scored. To answer other rows, use "
            "predict.py; to train on them, set another --output_dir"
        )


def warn_of_dev_set(
    start: StartingPoint[FineTuningConfig], sets: RecordedSets
) -> None:
    """Logs a warning if scores on the dev set are not what a user expects.

    A new run may start from weights that were trained on the file of the dev
    set. A command that evaluates a run may replace the scores of another file.
    For example, a run has the scores of dev.csv, and --do_eval with another
    --data_dir replaces them. The arguments are those of `check_dev_set`.
    """
    if not start.is_own_run:
        overlap = _describe_trained_file(start, sets)
        # Do not warn twice: `dev_set_rule.add_dev_set_rule` may have warned.
        has_warned = start.dev_set_rule and start.dev_set_rule.is_doubtful
        if overlap and not has_warned:
            logging.warning("%s. Do not trust its scores.", overlap)
    elif not start.config.training.do_train:
        _warn_of_other_scores(start, sets)


def _describe_trained_file(
    start: StartingPoint[FineTuningConfig], sets: RecordedSets
) -> str | None:
    """Describes that weights were trained on the file of the dev set, if so."""
    preset = start.preset
    dev_set = _find_dev_set(start, sets)
    if not preset or not dev_set:
        return None
    if start.dev_set_rule and has_data_file(preset):
        # Both cut the file into a dev and a train set. dev_set_rule.py compares
        # how they did it.
        return None
    train_set = preset.recorded_sets.get("train")
    if train_set is None or dev_set.checksum != train_set.checksum:
        return None
    return (
        f"{dev_set.file}: {preset.source} was trained on this file "
        f"({train_set.num_rows} rows of {train_set.file}), so the dev set "
        "contains rows of the train set"
    )


def _warn_of_other_scores(
    start: StartingPoint[FineTuningConfig], sets: RecordedSets
) -> None:
    preset = start.preset
    dev_set = _find_dev_set(start, sets)
    if not preset or not dev_set:
        return
    former = preset.recorded_sets.get("eval", dev_set)
    if start.dev_set_rule is None and dev_set.checksum != former.checksum:
        logging.warning(
            "%s is not the dev set of %s, which was of %s. The scores, the "
            "card and the report of the run are replaced.",
            dev_set.file,
            preset.source,
            former.file,
        )


def _find_dev_set(
    start: StartingPoint[FineTuningConfig], sets: RecordedSets
) -> RecordedSet | None:
    """Returns the dev set of a script that has --data_file, if it reads one."""
    if not isinstance(start.config, DataFileConfig):
        return None
    return sets.get("eval")


def find_run_with_other_dev_set(
    start: StartingPoint[FineTuningConfig], sets: RecordedSets
) -> Preset | None:
    """Returns the run that a command only evaluates on another dev set.

    None if the command trains or does not split a --data_file, or if the dev
    set is that of the run. For example, the run was trained with
    --data_file=a.csv, and the command is --do_eval with --data_file=b.csv. The
    arguments are those of `check_dev_set`.
    """
    preset = start.preset
    dev_set = sets.get("eval")
    if not preset or start.dev_set_rule is None or dev_set is None:
        return None
    if start.config.training.do_train or not preset.is_own_run:
        return None
    is_same_split = start.dev_set_rule == preset.dev_set_rule
    if is_same_split and dev_set.has_rows_of(preset.recorded_sets.get("eval")):
        return None
    return preset


def log_that_scores_are_not_written(preset: Preset) -> None:
    """Logs what happens to scores on another dev set than that of `preset`."""
    logging.info(
        "This is not the dev set of %s. The scores are only shown, and the "
        "files of the run stay as they are. To write them, set another "
        "--output_dir, with --init_checkpoint=%s",
        preset.source,
        preset.weights,
    )


def check_train_set(
    start: StartingPoint[FineTuningConfig],
    sets: RecordedSets,
    records: Sequence[Fingerprint],
) -> None:
    """Checks that a run is resumed on the records that it began with.

    For example, a row was added to train.csv after the run had stopped. The
    message then names the file, with its number of rows then and now.

    Args:
        start: what the command starts from.
        sets: the sets of the command.
        records: fingerprint of the records of the train set.

    Raises:
        ValueError: the records differ. The message names the file.
    """
    preset = start.preset
    if not (preset and preset.is_own_run):
        return
    recorded = preset.recorded_settings.get("train_records", records)
    if recorded == records:
        return
    folder = start.config.training.output_dir
    raise ValueError(
        f"{_describe_difference(start, preset, sets)}. To train on it, set "
        f"another --output_dir, with --init_checkpoint={folder}"
    )


def _describe_difference(
    start: StartingPoint[FineTuningConfig], preset: Preset, sets: RecordedSets
) -> str:
    """Describes what differs between the train sets of a run and a command.

    `preset` is that of the run.
    """
    now = sets["train"]
    then = preset.recorded_sets.get("train", now)
    has_table = start.dev_set_rule is not None
    num_rows = _count_file_rows(sets, now, has_table)
    num_then = _count_file_rows(preset.recorded_sets, then, has_table)
    if now.file != then.file:
        return (
            f"{start.config.training.output_dir} was trained on {then.file}, "
            f"{num_then} rows, and {now.file} has {num_rows}"
        )
    if num_rows != num_then:
        return f"{now.file} has changed: {num_then} rows then, {num_rows} now"
    if now.checksum != then.checksum:
        return (
            f"{now.file} has changed, although it has {num_rows} rows as then"
        )
    return f"{now.file} is read in another way than by this run"


def _count_file_rows(
    sets: RecordedSets, train_set: RecordedSet, has_table: bool
) -> int:
    """Returns the number of rows in the file of a train set.

    With --data_file (`has_table`), the file also contains the dev set.
    """
    if has_table and "eval" in sets:
        return train_set.num_rows + sets["eval"].num_rows
    return train_set.num_rows
