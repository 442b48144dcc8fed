"""Checks that a run is resumed on the train set that it began with."""

from collections.abc import Sequence

from model_folders.model_json_types import Fingerprint
from model_folders.reading.presets import Preset
from model_folders.recorded_sets import (
    DEV_SET,
    TRAIN_SET,
    RecordedSet,
    RecordedSets,
)
from training.config.fine_tuning_config import FineTuningConfig
from training.preparation.starting_point import StartingPoint


def check_train_set(
    start: StartingPoint[FineTuningConfig],
    recorded_sets: RecordedSets,
    records: Sequence[Fingerprint],
) -> None:
    """Checks that a run is resumed on the records that it began with.

    For example, a row was added to train.csv after the run had stopped. The
    message then names the file, with its number of rows then and now.

    Args:
        start: StartingPoint of the command.
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
    """Describes how the train set of a command differs from that of its run.

    `preset` is the Preset of the run.
    """
    train_set = recorded_sets[TRAIN_SET]
    former = preset.recorded_sets.get(TRAIN_SET, train_set)
    has_table = start.dev_set_rule is not None
    num_rows = _count_file_rows(recorded_sets, train_set, has_table=has_table)
    num_former_rows = _count_file_rows(
        preset.recorded_sets, former, has_table=has_table
    )
    file = train_set.file
    if file != former.file:
        return (
            f"{start.config.training.output_dir} was trained on {former.file}, "
            f"{num_former_rows} rows, and {file} has {num_rows}"
        )
    if num_rows != num_former_rows:
        return (
            f"{file} has changed: {num_former_rows} rows then, {num_rows} now"
        )
    if train_set.checksum != former.checksum:
        return f"{file} has changed, although it has {num_rows} rows as then"
    return f"{file} is read in another way than by this run"


def _count_file_rows(
    recorded_sets: RecordedSets, train_set: RecordedSet, *, has_table: bool
) -> int:
    """Returns the number of rows in the file of a train set.

    With --data_file (`has_table`), the file also contains the dev set.
    """
    if has_table and DEV_SET in recorded_sets:
        return train_set.num_rows + recorded_sets[DEV_SET].num_rows
    return train_set.num_rows
