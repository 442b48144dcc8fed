"""Chooses the dev set of --data_file, and finds out if it can be trusted.

A score means nothing if the weights were trained on rows of the dev set. With
--data_dir, the user made the sets. A --data_file is one file, from which a rule
takes the dev set. What keeps this dev set apart, in the order of a run:

1. The rule. data/sets/row_keys.py turns the texts of a row into a number from
   0 to 1. The row is in the dev set if the number is below --dev_fraction. So
   every command with this fraction agrees, whatever rows were added meanwhile.
2. The record. A run writes to model.json which rule chose its rows
   (`DevSetRule`), and the name, size and checksum of each of its sets
   (`RecordedSet`). model_folders/recorded_sets.py defines both.
3. The comparison of rules, in this module. A run that chose its sets in another
   way may have been trained on rows of this dev set. A command that starts from
   the weights of such a run logs a warning.
4. The comparison of sets, after the rows are read (dev_set_check.py).

This module imports no TensorFlow.
"""

import dataclasses
from typing import NamedTuple

from absl import logging

from data.sets.file_sets import FileSets, RowExampleT
from data.sets.row_keys import RULE_VERSION
from model_folders.reading.presets import Preset
from model_folders.recorded_sets import TRAIN_SET, DevSetRule
from training.config.fine_tuning_config import (
    DataFileConfig,
    DataFileConfigT,
    FineTuningConfig,
)
from training.preparation.starting_point import StartingPoint


class _Overlap(NamedTuple):
    """Why weights may have been trained on rows of a dev set.

    Attributes:
        clean_fraction: the largest --dev_fraction whose dev set contains none
            of these rows, 0.0 if every dev set may contain some.
        reason: the reason, for the log.
    """

    clean_fraction: float
    reason: str


def choose_dev_set_rule(
    start: StartingPoint[DataFileConfigT],
    file_sets: FileSets[RowExampleT],
) -> StartingPoint[DataFileConfigT]:
    """Returns the start with the rule for --data_file, if the flag is set.

    Logs a warning if the weights may have been trained on rows of the dev set.
    """
    config = start.config
    if not config.data_file:
        return start
    fraction = config.data_file_options.dev_fraction
    key = tuple(file_sets.reader.key_names)
    overlap = start.preset and _find_overlap(start.preset, config, key)
    if overlap:
        logging.warning(
            "Rows of this dev set may have been trained on: %s. Do not trust "
            "its scores.",
            overlap.reason,
        )
    clean_fraction = overlap.clean_fraction if overlap else fraction
    rule = DevSetRule(RULE_VERSION, fraction, key, clean_fraction)
    return dataclasses.replace(start, dev_set_rule=rule)


def find_rule_to_record(
    start: StartingPoint[FineTuningConfig],
) -> DevSetRule | None:
    """Returns the rule for model.json, None if no run used a rule.

    A run on sets of --data_dir records the rule of the run that it starts from.
    """
    if start.dev_set_rule is None and start.preset:
        return start.preset.dev_set_rule
    return start.dev_set_rule


def has_data_file(preset: Preset) -> bool:
    """Returns whether the last command of a run read a --data_file."""
    provenance = preset.model_json.get("origin", {})
    return "data_file" in provenance.get("command", {})


def _find_overlap(
    preset: Preset, config: DataFileConfig, key: tuple[str, ...]
) -> _Overlap | None:
    """Finds out if weights may have been trained on rows of the dev set.

    Every row has a fixed place from 0 to 1, and the dev set is the rows below
    --dev_fraction. So a run with --dev_fraction=0.1 was trained on all rows
    from 0.1 on: on no row of the dev set of 0.1, but on half of the dev set of
    0.2. For a command with --dev_fraction=0.2:

        run of the weights                        clean_fraction of the result
        0.2, or 0.3                               (None)
        0.1                                       0.1
        0.3, started from a run with 0.1          0.1
        0.3, started from sets of --data_dir      0.0
        0.3, of other columns                     0.0
        sets of --data_dir                        0.0
        sets of --data_dir, after a run with 0.3  0.0
        another task                              (None)

    Args:
        preset: Preset of the weights.
        config: the flags, with the fraction of the rows in the dev set.
        key: names of the columns by which rows are assigned to a set.

    Returns:
        the reason to doubt the scores, None if the weights were trained on no
        row of the dev set.
    """
    source = preset.source
    other_way = "chose its dev set in another way"
    if _may_have_trained_on_any_row(preset, config):
        return _Overlap(0.0, f"{source} {other_way}")
    recorded = preset.dev_set_rule
    fraction = config.data_file_options.dev_fraction
    if recorded is None:
        return None
    if recorded.key != key:
        return _Overlap(
            0.0,
            f"{source} chose its dev set by {_join_names(recorded.key)}, and "
            f"this command chooses by {_join_names(key)}",
        )
    clean = recorded.clean_fraction
    if fraction <= clean:
        return None
    if not clean:
        return _Overlap(0.0, f"a start of {source} {other_way}")
    if clean < recorded.dev_fraction:
        source = f"a start of {source}"
    return _Overlap(
        clean,
        f"{source} was trained with --dev_fraction={clean:g}, and this dev set "
        f"is of --dev_fraction={fraction:g}",
    )


def _may_have_trained_on_any_row(
    preset: Preset, config: DataFileConfig
) -> bool:
    """Returns whether a run may have trained on any rows of the table.

    Such a run chose its sets by another version of the rule. Or the run is of
    the same task, and read sets of --data_dir, whose rows may be from the
    table. If such a run recorded a rule, the rule is that of an earlier run,
    whose weights it started from.
    """
    recorded = preset.dev_set_rule
    if recorded is not None and recorded.rule != RULE_VERSION:
        return True
    has_rule = recorded is not None and has_data_file(preset)
    return _is_trained_on_task(preset, config) and not has_rule


def _join_names(names: tuple[str, ...]) -> str:
    return " and ".join(map(repr, names))


def _is_trained_on_task(preset: Preset, config: DataFileConfig) -> bool:
    """Returns whether a run was trained for the task that a command names."""
    return (
        TRAIN_SET in preset.recorded_sets
        and preset.model_class == config.model_class
        and preset.recorded_settings.get("task_name") == config.task_name
    )
