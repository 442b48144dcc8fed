"""Compares the sets of a command with those that its weights' run recorded.

The dev set of any command must not be what the weights were trained on:
`DevSetCase` lists what may be found, and what the command then does. The train
set of a command that resumes a run must be that of the run.

For example, a run was trained on train.csv and evaluated on dev.csv. A later
command with --do_eval evaluates the run

    on the same dev.csv          EXPECTED: the scores are written
    on a copy of train.csv       SEEN_BY_RUN: the command fails
    on another dev.csv           OTHER_FILE: the scores replace the earlier ones
    on a part of --data_file     OTHER_ROWS: the scores are only logged

Only scripts that have --data_file compare their dev set.
"""

import enum
from collections.abc import Sequence
from typing import NamedTuple

from absl import logging

from model_folders.model_json_types import Fingerprint
from model_folders.reading.preset import Preset
from training.config.fine_tuning_config import FineTuningConfig
from training.dev_set.rules import DevSetRule, dev_set_rule_of, has_data_file
from training.dev_set.set_fingerprints import (
    DEV_SET,
    TRAIN_SET,
    SetFingerprint,
    SetFingerprints,
    set_fingerprints_of,
)


class DevSetCase(enum.Enum):
    """How a dev set relates to the sets on which weights were trained.

    The weights are either those of the run in --output_dir ("the run"), or
    those of --init_checkpoint ("other weights").

    Attributes:
        EXPECTED: the scores can be trusted, and are written.
        SEEN_BY_OTHER_WEIGHTS: other weights were trained on the file of the dev
            set. The command logs a warning.
        DOUBTED_BY_RULE: the same, but the rule of the dev set is doubtful, and
            `decide_dev_set_rule` has logged this doubt before it read the rows.
            The command logs nothing more.
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
    DOUBTED_BY_RULE = enum.auto()
    SEEN_BY_RUN = enum.auto()
    OTHER_ROWS = enum.auto()
    OTHER_FILE = enum.auto()

    @property
    def may_write_scores(self) -> bool:
        """Whether the scores are those of the run, and so are written."""
        return self is not DevSetCase.OTHER_ROWS


class DevSetFinding(NamedTuple):
    """The case of a dev set, and what to tell the user about it.

    Attributes:
        case: how the dev set relates to the sets of the weights.
        message: the message, "" if there is nothing to tell.
    """

    case: DevSetCase
    message: str = ""


def compare_dev_set(
    config: FineTuningConfig,
    preset: Preset | None,
    dev_set_rule: DevSetRule | None,
    set_fingerprints: SetFingerprints,
) -> DevSetFinding:
    """Compares the dev set of a command with the sets of its weights.

    For example, a run was trained on train.csv, and the dev.csv of --data_dir
    is a copy of train.csv: the case is `DevSetCase.SEEN_BY_RUN`.

    Args:
        config: says whether --data_file is split, and whether to train.
        preset: Preset of the weights, None for random weights.
        dev_set_rule: rule of the command, None without --data_file.
        set_fingerprints: the sets of the command, for model.json.
    """
    dev_fingerprint = set_fingerprints.get(DEV_SET)
    if not config.can_split_file or preset is None or dev_fingerprint is None:
        return DevSetFinding(DevSetCase.EXPECTED)
    case = _find_case(
        preset,
        dev_fingerprint,
        dev_set_rule,
        is_training=config.training.do_train,
    )
    return DevSetFinding(case, _describe_case(case, preset, dev_fingerprint))


def report_finding(finding: DevSetFinding) -> None:
    """Logs what to tell the user about a dev set, or raises it as an error.

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
    preset: Preset,
    dev_fingerprint: SetFingerprint,
    dev_set_rule: DevSetRule | None,
    *,
    is_training: bool,
) -> DevSetCase:
    """Returns the case of a dev set, as `compare_dev_set`."""
    is_train_file = _is_train_file(preset, dev_fingerprint, dev_set_rule)
    if not preset.is_own_run:
        if not is_train_file:
            return DevSetCase.EXPECTED
        if dev_set_rule and dev_set_rule.is_doubtful:
            return DevSetCase.DOUBTED_BY_RULE
        return DevSetCase.SEEN_BY_OTHER_WEIGHTS
    if is_training:
        # A resumed run keeps its sets, which `check_train_set` checks.
        return DevSetCase.EXPECTED
    if is_train_file:
        return DevSetCase.SEEN_BY_RUN
    dev_fingerprint_of_run = set_fingerprints_of(preset).get(DEV_SET)
    if dev_set_rule:
        is_same_rule = dev_set_rule == dev_set_rule_of(preset)
        if is_same_rule and dev_fingerprint.has_rows_of(dev_fingerprint_of_run):
            return DevSetCase.EXPECTED
        return DevSetCase.OTHER_ROWS
    if (
        dev_fingerprint_of_run
        and dev_fingerprint.checksum != dev_fingerprint_of_run.checksum
    ):
        return DevSetCase.OTHER_FILE
    return DevSetCase.EXPECTED


def _is_train_file(
    preset: Preset,
    dev_fingerprint: SetFingerprint,
    dev_set_rule: DevSetRule | None,
) -> bool:
    """Returns whether weights were trained on the file of a dev set."""
    if dev_set_rule and has_data_file(preset):
        # The run and the command both cut the file into a train set and a dev
        # set. `choose_dev_set_rule` has compared how they did it.
        return False
    train_fingerprint = set_fingerprints_of(preset).get(TRAIN_SET)
    return (
        train_fingerprint is not None
        and dev_fingerprint.checksum == train_fingerprint.checksum
    )


def _describe_case(
    case: DevSetCase, preset: Preset, dev_fingerprint: SetFingerprint
) -> str:
    """Returns what to tell the user about a case, "" if nothing."""
    match case:
        case DevSetCase.EXPECTED | DevSetCase.DOUBTED_BY_RULE:
            return ""
        case DevSetCase.SEEN_BY_OTHER_WEIGHTS:
            train_file = _describe_train_file(preset, dev_fingerprint)
            return f"{train_file}. Do not trust its scores."
        case DevSetCase.SEEN_BY_RUN:
            return (
                f"{_describe_train_file(preset, dev_fingerprint)}. Nothing is "
                "scored. To answer other rows, use predict.py; to train on "
                "them, set another --output_dir"
            )
        case DevSetCase.OTHER_ROWS:
            return (
                f"This is not the dev set of {preset.source}. The scores are "
                "only shown, and the files of the run stay as they are. To "
                "write them, set another --output_dir, with "
                f"--init_checkpoint={preset.weights_path}"
            )
        case DevSetCase.OTHER_FILE:
            file_of_run = set_fingerprints_of(preset)[DEV_SET].file
            return (
                f"{dev_fingerprint.file} is not the dev set of "
                f"{preset.source}, which was of {file_of_run}. The scores, the "
                "card and the report of the run are replaced."
            )


def _describe_train_file(
    preset: Preset, dev_fingerprint: SetFingerprint
) -> str:
    """Describes that weights were trained on the file of the dev set."""
    train_fingerprint = set_fingerprints_of(preset)[TRAIN_SET]
    return (
        f"{dev_fingerprint.file}: {preset.source} was trained on this file "
        f"({train_fingerprint.num_rows} rows of {train_fingerprint.file}), so "
        "the dev set contains rows of the train set"
    )


def check_train_set(
    preset: Preset | None,
    set_fingerprints: SetFingerprints,
    records: Sequence[Fingerprint],
    *,
    has_table: bool,
) -> None:
    """Checks that a run is resumed on the records that it began with.

    For example, a row was added to train.csv after the run had stopped. The
    message then names the file, with its number of rows then and now.

    Args:
        preset: Preset of the weights, None for random weights.
        set_fingerprints: the sets of the command.
        records: fingerprint of the records of the train set.
        has_table: whether the sets are rows of --data_file.

    Raises:
        ValueError: the records differ. The message names the file.
    """
    if not (preset and preset.is_own_run):
        return
    recorded = preset.training_settings.get("train_records", records)
    if recorded == records:
        return
    difference = _describe_difference(
        preset, set_fingerprints, has_table=has_table
    )
    raise ValueError(
        f"{difference}. To train on it, set another --output_dir, with "
        f"--init_checkpoint={preset.weights_path}"
    )


def _describe_difference(
    preset: Preset, set_fingerprints: SetFingerprints, *, has_table: bool
) -> str:
    """Describes how the train set of a command differs from that of its run."""
    train_fingerprint = set_fingerprints[TRAIN_SET]
    sets_of_run = set_fingerprints_of(preset)
    former = sets_of_run.get(TRAIN_SET, train_fingerprint)
    num_rows = _count_file_rows(
        set_fingerprints, train_fingerprint, has_table=has_table
    )
    num_former_rows = _count_file_rows(sets_of_run, former, has_table=has_table)
    file = train_fingerprint.file
    if file != former.file:
        return (
            f"{preset.weights_path} was trained on {former.file}, "
            f"{num_former_rows} rows, and {file} has {num_rows}"
        )
    if num_rows != num_former_rows:
        return (
            f"{file} has changed: {num_former_rows} rows then, {num_rows} now"
        )
    if train_fingerprint.checksum != former.checksum:
        return f"{file} has changed, although it has {num_rows} rows as then"
    return f"{file} is read in another way than by this run"


def _count_file_rows(
    set_fingerprints: SetFingerprints,
    train_fingerprint: SetFingerprint,
    *,
    has_table: bool,
) -> int:
    """Returns the number of rows in the file of a train set.

    With --data_file (`has_table`), the file also contains the dev set.
    """
    if has_table and DEV_SET in set_fingerprints:
        return train_fingerprint.num_rows + set_fingerprints[DEV_SET].num_rows
    return train_fingerprint.num_rows
