"""Checks whether weights were trained on the dev set of a command.

No command should score weights on examples that they were trained on.
`DevSetCase` lists the cases, and what a command does in each of them.

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

from model_folders.reading.preset import Preset
from training.config.fine_tuning_config import DataFileConfig, FineTuningConfig
from training.dev_set.rules import DevSetRule, dev_set_rule_of, has_data_file
from training.dev_set.set_fingerprints import (
    DEV_SET,
    TRAIN_SET,
    SetFingerprint,
    SetFingerprints,
    set_fingerprints_of,
)


class DevSetCase(enum.Enum):
    """The ways in which a dev set can relate to the training of the weights.

    The weights are either the weights of the run in --output_dir ("the run"),
    or the weights in --init_checkpoint ("other weights").

    Attributes:
        EXPECTED: the scores can be trusted, and are written.
        SEEN_BY_OTHER_WEIGHTS: other weights were trained on the file of the dev
            set. The command logs a warning.
        DOUBTED_BY_RULE: other weights were trained on the file of the dev set,
            and its rule is doubtful too. `decide_by_rows` has already logged a
            warning about the rule, so the command logs nothing more.
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


class DevSetComparison(NamedTuple):
    """The result of comparing a dev set with the sets of the weights.

    Attributes:
        case: the case that was found.
        message: what the user must know to judge the scores, "" if nothing.
    """

    case: DevSetCase
    message: str = ""

    @property
    def may_write_scores(self) -> bool:
        """Whether the scores may be written as scores of the run."""
        return self.case is not DevSetCase.OTHER_ROWS

    def log_or_raise(self) -> None:
        """Logs the message, or raises it as an error.

        Raises:
            ValueError: the case is `DevSetCase.SEEN_BY_RUN`.
        """
        if self.case is DevSetCase.SEEN_BY_RUN:
            raise ValueError(self.message)
        if self.case is DevSetCase.OTHER_ROWS:
            logging.info("%s", self.message)
        elif self.message:
            logging.warning("%s", self.message)


def compare_dev_set(
    config: FineTuningConfig,
    set_fingerprints: SetFingerprints,
    preset: Preset | None,
    *,
    dev_set_rule: DevSetRule | None,
    is_own_run: bool,
) -> DevSetComparison:
    """Compares the dev set of a command with the sets of its weights.

    For example, the case is `DevSetCase.SEEN_BY_RUN` if the run was trained on
    train.csv, and the dev.csv of --data_dir is a copy of train.csv.

    Args:
        config: the flags of the command.
        set_fingerprints: the sets of the command, for model.json.
        preset: Preset of the weights, None if they are random.
        dev_set_rule: rule of the command, None without --data_file.
        is_own_run: whether the weights are those of the run in --output_dir.
    """
    dev_fingerprint = set_fingerprints.get(DEV_SET)
    # Only scripts with --data_file split a file by a rule.
    has_rule = isinstance(config, DataFileConfig)
    if not has_rule or preset is None or dev_fingerprint is None:
        return DevSetComparison(DevSetCase.EXPECTED)
    if is_own_run and config.training.do_train:
        # A resumed run keeps its sets, which `check_resumed_train_set` checks.
        return DevSetComparison(DevSetCase.EXPECTED)
    case = _decide_case(
        preset, dev_fingerprint, dev_set_rule, is_own_run=is_own_run
    )
    return DevSetComparison(case, _describe_case(case, preset, dev_fingerprint))


def _decide_case(
    preset: Preset,
    dev_fingerprint: SetFingerprint,
    dev_set_rule: DevSetRule | None,
    *,
    is_own_run: bool,
) -> DevSetCase:
    """Decides the case by comparing the dev set with the sets of the weights.

    The command evaluates the weights of the run in --output_dir, or starts from
    those in --init_checkpoint.
    """
    # If both cut a file into a train set and a dev set, then
    # `choose_dev_set_rule` has compared how they did it.
    cut_a_file = dev_set_rule is not None and has_data_file(preset)
    train_fingerprint = set_fingerprints_of(preset).get(TRAIN_SET)
    is_train_file = (
        not cut_a_file
        and train_fingerprint is not None
        and dev_fingerprint.checksum == train_fingerprint.checksum
    )
    if not is_own_run:
        if not is_train_file:
            return DevSetCase.EXPECTED
        if dev_set_rule and dev_set_rule.is_doubtful:
            return DevSetCase.DOUBTED_BY_RULE
        return DevSetCase.SEEN_BY_OTHER_WEIGHTS
    if is_train_file:
        return DevSetCase.SEEN_BY_RUN
    if _is_dev_set_of_run(preset, dev_fingerprint, dev_set_rule):
        return DevSetCase.EXPECTED
    return DevSetCase.OTHER_ROWS if dev_set_rule else DevSetCase.OTHER_FILE


def _is_dev_set_of_run(
    preset: Preset,
    dev_fingerprint: SetFingerprint,
    dev_set_rule: DevSetRule | None,
) -> bool:
    """Returns whether a dev set is the one that a run recorded.

    With --data_file, the run must have recorded the same rows by the same rule.
    With --data_dir, any dev set counts as that of a run which recorded none.
    """
    recorded = set_fingerprints_of(preset).get(DEV_SET)
    if dev_set_rule:
        is_same_rule = dev_set_rule == dev_set_rule_of(preset)
        return is_same_rule and dev_fingerprint.has_rows_of(recorded)
    return recorded is None or dev_fingerprint.checksum == recorded.checksum


def _describe_case(
    case: DevSetCase, preset: Preset, dev_fingerprint: SetFingerprint
) -> str:
    """Returns the message about a case for the user, "" if there is none."""
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
