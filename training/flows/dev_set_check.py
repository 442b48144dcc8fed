"""Compares the dev set of a command with what its weights were trained on.

A score means nothing if the weights were trained on rows of the dev set.
Before the rows are read, dev_set_rule.py has compared the rules by which the
run and the command take a dev set from --data_file. After the rows are read,
this module compares the sets themselves. `DevSetCase` lists what it may find,
and what the command then does.

For example, a run was trained on train.csv and evaluated on dev.csv. A later
command with --do_eval evaluates the run

    on the same dev.csv          EXPECTED: the scores are written
    on a copy of train.csv       SEEN_BY_RUN: the command fails
    on another dev.csv           OTHER_FILE: the scores replace the earlier ones
    on a part of --data_file     OTHER_ROWS: the scores are only logged

Only scripts that have --data_file compare their dev set.
"""

import enum
from typing import NamedTuple

from absl import logging

from model_folders.reading.presets import Preset
from model_folders.recorded_sets import (
    DEV_SET,
    TRAIN_SET,
    RecordedSet,
    RecordedSets,
)
from training.config.fine_tuning_config import FineTuningConfig
from training.preparation.dev_set_rule import has_data_file
from training.preparation.starting_point import StartingPoint


class DevSetCase(enum.Enum):
    """How a dev set relates to the sets on which weights were trained.

    The weights are either those of the run in --output_dir ("the run"), or
    those of --init_checkpoint ("other weights").

    Attributes:
        EXPECTED: the scores can be trusted, and are written.
        SEEN_BY_OTHER_WEIGHTS: other weights were trained on the file of the dev
            set. The command logs a warning, unless dev_set_rule.py has logged
            one.
        SEEN_BY_RUN: the run was trained on the file of the dev set, and the
            command only evaluates it. The command fails.
        OTHER_ROWS: the command evaluates the run on rows of --data_file that
            are not the dev set of the run. It logs the scores, and writes none.
        OTHER_FILE: the command evaluates the run on a dev set of --data_dir
            that is not the dev set of the run. It replaces the scores of the
            run, and logs a warning.
    """

    EXPECTED = enum.auto()
    SEEN_BY_OTHER_WEIGHTS = enum.auto()
    SEEN_BY_RUN = enum.auto()
    OTHER_ROWS = enum.auto()
    OTHER_FILE = enum.auto()

    @property
    def writes_scores(self) -> bool:
        """Whether the scores are those of the run, and are written."""
        return self is not DevSetCase.OTHER_ROWS


class DevSetFinding(NamedTuple):
    """The case of a dev set, and what to tell the user about it.

    Attributes:
        case: the case.
        message: the message, "" if there is nothing to tell.
    """

    case: DevSetCase
    message: str = ""


def compare_dev_set(
    start: StartingPoint[FineTuningConfig], recorded_sets: RecordedSets
) -> DevSetFinding:
    """Compares the dev set of a command with the sets of its weights.

    For example, a run was trained on train.csv, and the dev.csv of --data_dir
    is a copy of train.csv: the case is `DevSetCase.SEEN_BY_RUN`.

    Args:
        start: StartingPoint of the command.
        recorded_sets: the sets of the command.
    """
    preset = start.preset
    dev_set = recorded_sets.get(DEV_SET)
    if not start.config.can_split_file or preset is None or dev_set is None:
        return DevSetFinding(DevSetCase.EXPECTED)
    case = _find_case(start, preset, dev_set)
    return DevSetFinding(case, _describe_case(case, start, preset, dev_set))


def check_dev_set(finding: DevSetFinding) -> None:
    """Tells the user about a dev set that is not as expected.

    Raises:
        ValueError: the dev set is the file that the run was trained on.
    """
    if not finding.message:
        return
    if finding.case is DevSetCase.SEEN_BY_RUN:
        raise ValueError(finding.message)
    if finding.case is DevSetCase.OTHER_ROWS:
        logging.info("%s", finding.message)
    else:
        logging.warning("%s", finding.message)


def _find_case(
    start: StartingPoint[FineTuningConfig],
    preset: Preset,
    dev_set: RecordedSet,
) -> DevSetCase:
    """Returns the case of a dev set. `preset` is the Preset of the weights."""
    is_train_file = _is_train_file(start, preset, dev_set)
    if not preset.is_own_run:
        if is_train_file:
            return DevSetCase.SEEN_BY_OTHER_WEIGHTS
        return DevSetCase.EXPECTED
    if start.config.training.do_train:
        # A resumed run keeps its sets, which train_set_check.py checks.
        return DevSetCase.EXPECTED
    if is_train_file:
        return DevSetCase.SEEN_BY_RUN
    dev_set_of_run = preset.recorded_sets.get(DEV_SET)
    if start.dev_set_rule:
        is_same_rule = start.dev_set_rule == preset.dev_set_rule
        if is_same_rule and dev_set.has_rows_of(dev_set_of_run):
            return DevSetCase.EXPECTED
        return DevSetCase.OTHER_ROWS
    if dev_set_of_run and dev_set.checksum != dev_set_of_run.checksum:
        return DevSetCase.OTHER_FILE
    return DevSetCase.EXPECTED


def _is_train_file(
    start: StartingPoint[FineTuningConfig],
    preset: Preset,
    dev_set: RecordedSet,
) -> bool:
    """Returns whether weights were trained on the file of a dev set."""
    if start.dev_set_rule and has_data_file(preset):
        # The run and the command both cut the file into a train set and a dev
        # set. dev_set_rule.py compares how they did it.
        return False
    train_set = preset.recorded_sets.get(TRAIN_SET)
    return train_set is not None and dev_set.checksum == train_set.checksum


def _describe_case(
    case: DevSetCase,
    start: StartingPoint[FineTuningConfig],
    preset: Preset,
    dev_set: RecordedSet,
) -> str:
    """Returns what to tell the user about a case, "" if nothing."""
    match case:
        case DevSetCase.EXPECTED:
            return ""
        case DevSetCase.SEEN_BY_OTHER_WEIGHTS:
            # Do not warn twice: `dev_set_rule.choose_dev_set_rule` may have
            # warned.
            if start.dev_set_rule and start.dev_set_rule.is_doubtful:
                return ""
            train_file = _describe_train_file(preset, dev_set)
            return f"{train_file}. Do not trust its scores."
        case DevSetCase.SEEN_BY_RUN:
            return (
                f"{_describe_train_file(preset, dev_set)}. Nothing is scored. "
                "To answer other rows, use predict.py; to train on them, set "
                "another --output_dir"
            )
        case DevSetCase.OTHER_ROWS:
            return (
                f"This is not the dev set of {preset.source}. The scores are "
                "only shown, and the files of the run stay as they are. To "
                "write them, set another --output_dir, with "
                f"--init_checkpoint={preset.weights_path}"
            )
        case DevSetCase.OTHER_FILE:
            return (
                f"{dev_set.file} is not the dev set of {preset.source}, which "
                f"was of {preset.recorded_sets[DEV_SET].file}. The scores, the "
                "card and the report of the run are replaced."
            )


def _describe_train_file(preset: Preset, dev_set: RecordedSet) -> str:
    """Describes that weights were trained on the file of the dev set."""
    train_set = preset.recorded_sets[TRAIN_SET]
    return (
        f"{dev_set.file}: {preset.source} was trained on this file "
        f"({train_set.num_rows} rows of {train_set.file}), so the dev set "
        "contains rows of the train set"
    )
