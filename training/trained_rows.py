"""Compares a command's rows with those that its weights were trained on.

--data_file is split by its rows' texts, so a row is in the dev set of every
command with the same --dev_fraction. This module compares a command with the
run that it continues, evaluates or starts from. It tells the user if the dev
set may contain rows that this run was trained on, and if a run is resumed on
another train set. It imports no TensorFlow.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from data.tables.dev_split import SetReader
from data.tables.row_keys import RULE
from model_folders.model_entries import Fingerprint
from model_folders.presets import Preset
from model_folders.recorded_splits import RecordedSet, TableSplit
from training.fine_tuning_config import (
    DataFileConfig,
    DataFileConfigT,
    FineTuningConfig,
)
from training.start import Start


def add_table_split(
    start: Start[DataFileConfigT], reader: SetReader[Any, Any]
) -> Start[DataFileConfigT]:
    """Returns the start with the split of --data_file, if the flag is set.

    Logs a warning if the weights may have been trained on rows of the dev set.
    """
    if not start.config.data_file:
        return start
    fraction = start.config.data.dev_fraction
    key = tuple(reader.key_names)
    preset = start.preset
    clean_fraction = fraction
    if preset and (doubt := _find_doubt(preset, start.config, fraction, key)):
        clean_fraction, reason = doubt
        logging.warning(
            "Rows of this dev set may have been trained on: %s. Do not trust "
            "its scores.",
            reason,
        )
    split = TableSplit(RULE, fraction, key, clean_fraction)
    return start.with_table_split(split)


def _find_doubt(
    preset: Preset,
    config: DataFileConfig,
    fraction: float,
    key: tuple[str, ...],
) -> tuple[float, str] | None:
    """Tells if the dev set may contain rows that the weights were trained on.

    Returns (clean fraction, reason) if so, and None if it contains no such row.
    The weights were not trained on rows below the clean fraction, which is 0.0
    if nothing is known (see TableSplit.clean_fraction).

    Args:
        preset: Preset of the weights.
        config: the flags.
        fraction: fraction of the rows in the dev set.
        key: names of the columns by which rows are assigned to a set.
    """
    split = preset.table_split
    source = preset.source
    if split is None and not _learned_table(preset, config):
        return None
    if split is None or split.rule != RULE:
        return 0.0, f"{source} chose its dev set in another way"
    if split.key != key:
        return 0.0, (
            f"{source} chose its dev set by {_joined(split.key)}, and this "
            f"command chooses by {_joined(key)}"
        )
    clean = split.clean_fraction
    if fraction <= clean:
        if splits_table(preset) or not _learned_table(preset, config):
            return None
        # The split is that of a start, and the sets of --data_dir may contain
        # the rows.
        return 0.0, f"{source} chose its dev set in another way"
    if not clean:
        return 0.0, f"a start of {source} chose its dev set in another way"
    if clean < split.dev_fraction:
        source = f"a start of {source}"
    return clean, (
        f"{source} was trained with --dev_fraction={clean:g}, and this dev "
        f"set is of --dev_fraction={fraction:g}"
    )


def _joined(names: tuple[str, ...]) -> str:
    return " and ".join(map(repr, names))


def _learned_table(preset: Preset, config: DataFileConfig) -> bool:
    """Returns whether weights were trained for the same kind of task.

    And on sets that the user made, which may be from the table that is now
    split.
    """
    return (
        "train" in preset.data
        and preset.head == config.head
        and preset.recorded_settings.get("task_name") == config.task_name
    )


def table_split_to_record(start: Start[FineTuningConfig]) -> TableSplit | None:
    """Returns the split for model.json, None if no run chose its sets so.

    A run on sets of --data_dir passes on the split of its start.
    """
    if start.table_split is None and start.preset:
        return start.preset.table_split
    return start.table_split


def check_dev_set(
    start: Start[FineTuningConfig], recorded_sets: Sequence[RecordedSet]
) -> None:
    """Compares the dev set of a command with the data of its weights.

    Logs a warning if the weights were trained on the file of the dev set, or
    if the scores of another dev set replace those of a run.

    Args:
        start: what the command starts from.
        recorded_sets: result of `splits.create_recorded_sets`.

    Raises:
        ValueError: the run in --output_dir was trained on the file of the dev
            set, which this command only evaluates.
    """
    preset = start.preset
    trains = start.config.training.do_train
    dev_set = _dev_set_of(recorded_sets)
    may_split = isinstance(start.config, DataFileConfig)
    if not preset or not may_split or dev_set is None:
        return
    if trains and preset.is_resumed:
        return
    if start.table_split is None or not splits_table(preset):
        _check_trained_file(start, preset, dev_set)
    if start.table_split is None and preset.is_resumed:
        _warn_of_other_scores(preset, dev_set)


def may_write_scores(
    start: Start[FineTuningConfig], recorded_sets: Sequence[RecordedSet]
) -> bool:
    """Returns whether a command writes its scores, card and report.

    A command that only evaluates a run does not if its --data_file has another
    dev set than the run, and logs this. The arguments are those of
    `check_dev_set`.
    """
    preset = start.preset
    dev_set = _dev_set_of(recorded_sets)
    if not preset or start.table_split is None or dev_set is None:
        return True
    if start.config.training.do_train or not preset.is_resumed:
        return True
    is_same_split = start.table_split == preset.table_split
    if is_same_split and dev_set.has_rows_of(preset.data.get("eval")):
        return True
    logging.info(
        "This is not the dev set of %s. The scores are only shown, and the "
        "files of the run stay as they are. To write them, set another "
        "--output_dir, with --init_checkpoint=%s",
        preset.source,
        preset.weights,
    )
    return False


def _dev_set_of(recorded_sets: Sequence[RecordedSet]) -> RecordedSet | None:
    return _by_name(recorded_sets).get("eval")


def _by_name(
    recorded_sets: Sequence[RecordedSet],
) -> dict[str, RecordedSet]:
    return {recorded.name: recorded for recorded in recorded_sets}


def splits_table(preset: Preset) -> bool:
    """Returns whether the last command of a run split its --data_file."""
    provenance = preset.model_json.get("origin", {})
    return "data_file" in provenance.get("command", {})


def _check_trained_file(
    start: Start[FineTuningConfig], preset: Preset, dev_set: RecordedSet
) -> None:
    """Tells the user if the weights were trained on the file of the dev set."""
    train_set = preset.data.get("train")
    if train_set is None or dev_set.checksum != train_set.checksum:
        return
    reason = (
        f"{dev_set.file}: {preset.source} was trained on this file "
        f"({train_set.num_rows} rows of {train_set.file}), so the dev set "
        "contains rows of the train set"
    )
    if preset.is_resumed:
        raise ValueError(
            f"{reason}. Nothing is scored. To answer other rows, use "
            "predict.py; to train on them, set another --output_dir"
        )
    # Do not warn twice.
    if not (start.table_split and start.table_split.is_doubtful):
        logging.warning("%s. Do not trust its scores.", reason)


def _warn_of_other_scores(preset: Preset, dev_set: RecordedSet) -> None:
    former = preset.data.get("eval", dev_set)
    if dev_set.checksum != former.checksum:
        logging.warning(
            "%s is not the dev set of %s, which was of %s. The scores, the "
            "card and the report of the run are replaced.",
            dev_set.file,
            preset.source,
            former.file,
        )


def check_train_set(
    start: Start[FineTuningConfig],
    recorded_sets: Sequence[RecordedSet],
    records: list[Fingerprint],
) -> None:
    """Checks that a run is resumed on the records that it began with.

    Args:
        start: what the command starts from.
        recorded_sets: result of `splits.create_recorded_sets`.
        records: fingerprint of the records of the train set.

    Raises:
        ValueError: the records differ. The message names the file.
    """
    preset = start.preset
    if not (preset and preset.is_resumed):
        return
    recorded = preset.recorded_settings.get("train_records", records)
    if recorded == records:
        return
    sets = _by_name(recorded_sets)
    now = sets["train"]
    then = preset.data.get("train", now)
    num_rows = _num_rows(sets, now, start)
    num_then = _num_rows(preset.data, then, start)
    folder = start.config.training.output_dir
    if now.file != then.file:
        what = (
            f"{folder} was trained on {then.file}, {num_then} rows, and "
            f"{now.file} has {num_rows}"
        )
    elif num_rows != num_then:
        what = f"{now.file} has changed: {num_then} rows then, {num_rows} now"
    elif now.checksum != then.checksum:
        what = (
            f"{now.file} has changed, although it has {num_rows} rows as then"
        )
    else:
        what = f"{now.file} is read in another way than by this run"
    raise ValueError(
        f"{what}. To train on it, set another --output_dir, with "
        f"--init_checkpoint={folder}"
    )


def _num_rows(
    sets: Mapping[str, RecordedSet],
    train_set: RecordedSet,
    start: Start[FineTuningConfig],
) -> int:
    """Returns the number of rows in the file of a train set.

    With --data_file, it also contains the dev set.
    """
    if start.table_split is None or "eval" not in sets:
        return train_set.num_rows
    return train_set.num_rows + sets["eval"].num_rows
