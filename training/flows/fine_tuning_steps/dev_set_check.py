"""Compares a command's sets with those that its weights were trained on.

The weights are of another run if the command starts from them, and of this run
if it resumes or evaluates the run in --output_dir. The code has the order of
this table:

    weights of    command         dev set                        what happens
    any run       any             --data_file, whose rows may    warning (1)
                                  have been trained on
    another run   any             the file of the train set      warning (2)
    this run      no --do_train   the file of the train set      error
    this run      no --do_train   --data_file, not the dev set   scores are
                                  of the run                     only shown
    this run      no --do_train   --data_dir, not the dev set    warning (3)
                                  of the run
    this run      --do_train      any, but the train set has     error
                                  changed

(1) dev_set_rule.py finds it out before the rows are read. (2) This warning does
not follow the first. (3) The scores of the run are replaced.

Only scripts that have --data_file compare dev sets. All compare the train set.
This module imports no TensorFlow.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from absl import logging

from model_folders.model_json_types import Fingerprint
from model_folders.reading.presets import Preset
from model_folders.recorded_sets import RecordedSet
from training.config.fine_tuning_config import (
    DataFileConfig,
    FineTuningConfig,
)
from training.preparation.dev_set_rule import has_data_file
from training.preparation.starting_point import StartingPoint

# {name in model.json: its set}, as `create_recorded_sets` returns them.
RecordedSets: TypeAlias = Mapping[str, RecordedSet]


def check_dev_set(
    start: StartingPoint[FineTuningConfig], recorded_sets: RecordedSets
) -> None:
    """Checks and warns of the dev set, as the table of this module says.

    For example, a run was trained on train.csv, and the dev.csv of --data_dir
    is a copy of it.

    Args:
        start: what the command starts from.
        recorded_sets: the sets of the command.

    Raises:
        ValueError: the dev set is the file of the run's train set.
    """
    preset = start.preset
    if preset is None:
        return
    if not preset.is_own_run:
        _warn_of_trained_file(start, preset, recorded_sets)
    elif not start.config.training.do_train:
        _check_trained_file(start, preset, recorded_sets)
        if has_other_dev_set(start, recorded_sets):
            _log_unwritten_scores(preset)
        else:
            _warn_of_replaced_scores(start, preset, recorded_sets)


def _warn_of_trained_file(
    start: StartingPoint[FineTuningConfig],
    preset: Preset,
    recorded_sets: RecordedSets,
) -> None:
    """Logs a warning if another run was trained on the file of the dev set."""
    overlap = _describe_trained_file(start, preset, recorded_sets)
    # Do not warn twice: `dev_set_rule.choose_dev_set_rule` may have warned.
    has_warned = start.dev_set_rule and start.dev_set_rule.is_doubtful
    if overlap and not has_warned:
        logging.warning("%s. Do not trust its scores.", overlap)


def _check_trained_file(
    start: StartingPoint[FineTuningConfig],
    preset: Preset,
    recorded_sets: RecordedSets,
) -> None:
    """Raises a ValueError if the run was trained on the dev set's file."""
    if overlap := _describe_trained_file(start, preset, recorded_sets):
        raise ValueError(
            f"{overlap}. Nothing is scored. To answer other rows, use "
            "predict.py; to train on them, set another --output_dir"
        )


def _describe_trained_file(
    start: StartingPoint[FineTuningConfig],
    preset: Preset,
    recorded_sets: RecordedSets,
) -> str | None:
    """Describes that weights were trained on the file of the dev set, if so."""
    dev_set = _find_dev_set(start, recorded_sets)
    if not dev_set:
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


def has_other_dev_set(
    start: StartingPoint[FineTuningConfig], recorded_sets: RecordedSets
) -> bool:
    """Returns whether a run is evaluated on another part of a --data_file.

    For example, the run was trained with --data_file=a.csv, and the command is
    --do_eval with --data_file=b.csv. Its scores are not those of the run, so
    they are only shown. A command that trains has no such scores.

    Args:
        start: what the command starts from.
        recorded_sets: the sets of the command.
    """
    preset = start.preset
    dev_set = recorded_sets.get("eval")
    if not preset or start.dev_set_rule is None or dev_set is None:
        return False
    if start.config.training.do_train or not preset.is_own_run:
        return False
    is_same_split = start.dev_set_rule == preset.dev_set_rule
    has_same_rows = dev_set.has_rows_of(preset.recorded_sets.get("eval"))
    return not (is_same_split and has_same_rows)


def _log_unwritten_scores(preset: Preset) -> None:
    """Logs what happens to scores on another dev set than that of `preset`."""
    logging.info(
        "This is not the dev set of %s. The scores are only shown, and the "
        "files of the run stay as they are. To write them, set another "
        "--output_dir, with --init_checkpoint=%s",
        preset.source,
        preset.weights,
    )


def _warn_of_replaced_scores(
    start: StartingPoint[FineTuningConfig],
    preset: Preset,
    recorded_sets: RecordedSets,
) -> None:
    """Logs a warning if the sets of --data_dir have another dev set.

    For example, a run has the scores of dev.csv, and --do_eval with another
    --data_dir replaces them.
    """
    dev_set = _find_dev_set(start, recorded_sets)
    if not dev_set or start.dev_set_rule:
        return
    former = preset.recorded_sets.get("eval", dev_set)
    if dev_set.checksum != former.checksum:
        logging.warning(
            "%s is not the dev set of %s, which was of %s. The scores, the "
            "card and the report of the run are replaced.",
            dev_set.file,
            preset.source,
            former.file,
        )


def _find_dev_set(
    start: StartingPoint[FineTuningConfig], recorded_sets: RecordedSets
) -> RecordedSet | None:
    """Returns the dev set of a script that has --data_file, if it reads one."""
    if not isinstance(start.config, DataFileConfig):
        return None
    return recorded_sets.get("eval")


def check_train_set(
    start: StartingPoint[FineTuningConfig],
    recorded_sets: RecordedSets,
    records: Sequence[Fingerprint],
) -> None:
    """Checks that a run is resumed on the records that it began with.

    For example, a row was added to train.csv after the run had stopped. The
    message then names the file, with its number of rows then and now.

    Args:
        start: what the command starts from.
        recorded_sets: the sets of the command.
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
    difference = _describe_difference(start, preset, recorded_sets)
    raise ValueError(
        f"{difference}. To train on it, set another --output_dir, with "
        f"--init_checkpoint={folder}"
    )


def _describe_difference(
    start: StartingPoint[FineTuningConfig],
    preset: Preset,
    recorded_sets: RecordedSets,
) -> str:
    """Describes what differs between the train sets of a run and a command.

    `preset` is that of the run.
    """
    now = recorded_sets["train"]
    then = preset.recorded_sets.get("train", now)
    has_table = start.dev_set_rule is not None
    num_rows = _count_file_rows(recorded_sets, now, has_table)
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
    recorded_sets: RecordedSets, train_set: RecordedSet, has_table: bool
) -> int:
    """Returns the number of rows in the file of a train set.

    With --data_file (`has_table`), the file also contains the dev set.
    """
    if has_table and "eval" in recorded_sets:
        return train_set.num_rows + recorded_sets["eval"].num_rows
    return train_set.num_rows
