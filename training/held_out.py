"""Decides whether the rows of a dev set were held out of all training.

--data_file is split by its rows' texts, so a row is in the dev set of every
command with the same --dev_fraction. This module compares a command with the
run that it continues, evaluates or starts from, and tells the user if the dev
set may contain rows that this run was trained on. It imports no TensorFlow.
"""

from collections.abc import Sequence
from typing import TypeVar

from absl import logging

from command_line import flags
from data.io.dev_split import SetReader
from data.io.row_keys import RULE
from modeling.presets import Preset
from modeling.recorded_splits import RecordedSplit
from training.config import TrainingConfig
from training.start import Start

Config = TypeVar("Config", bound=TrainingConfig)


def with_split(start: Start[Config], reader: SetReader) -> Start[Config]:
    """Returns the start with the split of --data_file, if the flag is set.

    Logs a warning if the weights may have been trained on rows of the dev set.
    """
    values = flags.flat(start.config)
    if not values["data_file"]:
        return start
    fraction = values["dev_fraction"]
    key = tuple(reader.key_names)
    preset = start.preset
    clean = fraction
    if preset and (reason := _doubt(preset, start.config, fraction, key)):
        clean, text = reason
        logging.warning(
            "Rows of this dev set may have been trained on: %s. Do not trust "
            "its scores.",
            text,
        )
    split = RecordedSplit(RULE, fraction, key, clean)
    return start.with_split(split)


def _doubt(
    preset: Preset,
    config: TrainingConfig,
    fraction: float,
    key: tuple[str, ...],
) -> tuple[float, str] | None:
    # Returns the clean fraction of the weights, and why it is smaller than that
    # of the dev set. None if it is not.
    split = preset.split
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
    if clean < (split.dev_fraction or 0.0):
        source = f"a start of {source}"
    return clean, (
        f"{source} was trained with --dev_fraction={clean:g}, and this dev "
        f"set is of --dev_fraction={fraction:g}"
    )


def _joined(names: tuple[str, ...]) -> str:
    return " and ".join(map(repr, names))


def _learned_table(preset: Preset, config: TrainingConfig) -> bool:
    # Returns whether weights were trained for the same kind of task on sets
    # that the user made. They may be from the table that is now split.
    return (
        "train" in preset.data
        and preset.head == config.head
        and preset.training.get("task_name")
        == flags.flat(config).get("task_name")
    )


def split_to_record(start: Start) -> RecordedSplit | None:
    """Returns the split for model.json, None if no run chose its sets so.

    A run on sets of --data_dir passes on the split of its start.
    """
    if start.split is None and start.preset:
        return start.preset.split
    return start.split


def check_dev_set(start: Start, described: Sequence[list]) -> bool:
    """Compares the dev set of a command with the data of its weights.

    Logs a warning if the weights were trained on the file of the dev set, or
    if the scores of another dev set replace those of a run.

    Args:
        start: what the command starts from.
        described: result of `splits.describe_data`.

    Returns:
        whether the command writes its scores, card and report. A command that
        only evaluates a run does not if its --data_file has another dev set
        than the run.

    Raises:
        ValueError: the run in --output_dir was trained on the file of the dev
            set, which this command only evaluates.
    """
    preset = start.preset
    values = flags.flat(start.config)
    trains = start.config.training.do_train
    data = {name: entry for name, *entry in described}
    if not preset or "data_file" not in values or "eval" not in data:
        return True
    if trains and preset.is_resumed:
        return True
    file, _, checksum = data["eval"]
    if start.split is None or not splits_table(preset):
        _check_trained_file(start, preset, file, checksum)
    if trains or not preset.is_resumed:
        return True
    if start.split is None:
        _warn_of_other_scores(preset, file, checksum)
        return True
    if (
        start.split == preset.split
        and data["eval"][1:] == preset.data.get("eval", [None])[1:]
    ):
        return True
    logging.info(
        "This is not the dev set of %s. The scores are only shown, and the "
        "files of the run stay as they are. To write them, set another "
        "--output_dir, with --init_checkpoint=%s",
        preset.source,
        preset.weights,
    )
    return False


def splits_table(preset: Preset) -> bool:
    """Returns whether the last command of a run split its --data_file."""
    origin = preset.described.get("origin", {})
    return "data_file" in origin.get("command", {})


def _check_trained_file(
    start: Start, preset: Preset, file: str, checksum: int
) -> None:
    # Tells the user if the weights were trained on the file of the dev set.
    if "train" not in preset.data:
        return
    train_file, num_rows, train_checksum = preset.data["train"]
    if checksum != train_checksum:
        return
    reason = (
        f"{file}: {preset.source} was trained on this file ({num_rows} rows of "
        f"{train_file}), so the dev set contains rows of the train set"
    )
    if preset.is_resumed:
        raise ValueError(
            f"{reason}. Nothing is scored. To answer other rows, use "
            "predict.py; to train on them, set another --output_dir"
        )
    # Do not warn twice.
    if not (start.split and start.split.is_doubtful):
        logging.warning("%s. Do not trust its scores.", reason)


def _warn_of_other_scores(preset: Preset, file: str, checksum: int) -> None:
    former, _, known = preset.data.get("eval", [file, 0, checksum])
    if checksum != known:
        logging.warning(
            "%s is not the dev set of %s, which was of %s. The scores, the "
            "card and the report of the run are replaced.",
            file,
            preset.source,
            former,
        )


def check_train_set(
    start: Start, described: Sequence[list], records: list[list]
) -> None:
    """Checks that a run is resumed on the records that it began with.

    Args:
        start: what the command starts from.
        described: result of `splits.describe_data`.
        records: fingerprint of the records of the train set.

    Raises:
        ValueError: the records differ. The message names the file.
    """
    preset = start.preset
    if not (preset and preset.is_resumed):
        return
    recorded = preset.training.get("train_records", records)
    if recorded == records:
        return
    now = {name: entry for name, *entry in described}
    before = preset.data
    file, rows, checksum = now["train"]
    former, rows_before, former_checksum = before.get("train", now["train"])
    if start.split is not None:
        rows += now["eval"][1] if "eval" in now else 0
        rows_before += before["eval"][1] if "eval" in before else 0
    if file != former:
        what = (
            f"{start.config.training.output_dir} was trained on {former}, "
            f"{rows_before} rows, and {file} has {rows}"
        )
    elif rows != rows_before:
        what = f"{file} has changed: {rows_before} rows then, {rows} now"
    elif checksum != former_checksum:
        what = f"{file} has changed, although it has {rows} rows as then"
    else:
        what = f"{file} is read in another way than by this run"
    folder = start.config.training.output_dir
    raise ValueError(
        f"{what}. To train on it, set another --output_dir, with "
        f"--init_checkpoint={folder}"
    )
