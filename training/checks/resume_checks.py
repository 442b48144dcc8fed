"""Checks that a command goes on with what the run that it resumes began with.

A run keeps its flags and settings, its train set, and its records. model.json
records all of them (run_files/model_description.py). This module imports no
TensorFlow.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from files import json_files
from model_folders.model_json import MODEL_JSON_FILE
from model_folders.model_json_types import (
    Fingerprint,
    RunFlagsEntry,
    TrainingInputs,
    TrainingSettings,
)
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset
from options.fields import Role
from training.config.training_config import TrainingConfig
from training.dev_set.rules import DEV_SET_RULE_ENTRY
from training.dev_set.set_fingerprints import (
    DEV_SET,
    SETS_ENTRY,
    TRAIN_SET,
    SetFingerprint,
    SetFingerprints,
    set_fingerprints_of,
)

# Roles of the flags that must not change when a run is resumed.
_COMPARED_ROLES = (Role.IDENTITY, Role.HEAD, Role.TRAINING)
# Settings that are the flags of records.
_RECORD_FLAGS: tuple[Literal["input_file", "eval_input_file"], ...] = (
    "input_file",
    "eval_input_file",
)


def to_stored_settings(
    config: TrainingConfig, settings: Mapping[str, object]
) -> TrainingSettings:
    """Returns settings and flags as model.json stores them.

    Only flags that a resumed run must keep are stored. Tuples become lists.

    Args:
        config: the flags of the command.
        settings: JSON-serializable dict of settings, besides the flags.
    """
    values = {
        **settings,
        "flags": config.flag_values_of(*_COMPARED_ROLES),
    }
    stored = json_files.parse_json(
        json.dumps(values), MODEL_JSON_FILE, may_be_infinite=True
    )
    return cast("TrainingSettings", stored)


def check_resumed_settings(
    config: TrainingConfig,
    own_run: Preset | None,
    settings: Mapping[str, object],
) -> None:
    """Checks that a run is resumed with the flags and settings it began with.

    A new run may have any. A flag that is defined with `may_grow` may increase,
    or change from or to None (no limit). A flow compares the flags before any
    slow work, and compares them again together with the settings, which are
    known later.

    For example, a run that began with --learning_rate=5e-5 and
    --num_train_epochs=3 may resume with 4 epochs, but not with
    --learning_rate=1e-5.

    Args:
        config: the flags that the command resumes with.
        own_run: what the run in --output_dir states, None for a new run.
        settings: JSON-serializable dict of settings, besides the flags, {} to
            compare only the flags. Settings that the run recorded too must not
            change.

    Raises:
        ValueError: a flag or setting differs. The message names it. Or the
            folder does not state the settings.
    """
    if own_run is None:
        return
    folder = config.training.output_dir
    if not own_run.training_settings:
        raise ValueError(
            f"--output_dir={folder} contains checkpoints, but no "
            f"{MODEL_JSON_FILE} with the settings of their training. Restore "
            "the file, or train on in another --output_dir, with "
            f"--init_checkpoint={folder}"
        )
    now = _select_compared_settings(to_stored_settings(config, settings))
    saved = _select_compared_settings(own_run.training_settings)
    names = saved.keys() & now.keys()
    for flag in config.list_options(Role.TRAINING):
        name = f"--{flag.name}"
        may_grow = name in names and flag.properties.get("may_grow")
        if may_grow and _has_grown(saved[name], now[name]):
            names.remove(name)
    if difference := settings_check.find_first_difference(saved, now, names):
        raise ValueError(
            f"--output_dir={folder} contains a run with {difference.name}="
            f"{difference.saved}; received {difference.now}. Set another "
            "--output_dir. To start from this run's weights, also set "
            f"--init_checkpoint={folder}"
        )


def _select_compared_settings(settings: TrainingSettings) -> dict[str, object]:
    """Returns {setting, or flag with its dashes: value} to compare."""
    flags = settings.get("flags", RunFlagsEntry())
    # The sets are recorded for the card and for later runs. The rule of the dev
    # set follows from flags, which are compared, and from the first weights.
    left_out = {SETS_ENTRY, "flags", DEV_SET_RULE_ENTRY}
    return {
        **{f"--{name}": value for name, value in flags.items()},
        **{
            name: value
            for name, value in settings.items()
            if name not in left_out
        },
    }


def _has_grown(before: object, now: object) -> bool:
    """Returns whether a limit is larger now. None is no limit."""
    if before is None or now is None:
        return True
    if isinstance(before, int | float) and isinstance(now, int | float):
        return now > before
    return False


def check_resumed_train_set(
    own_run: Preset | None,
    set_fingerprints: SetFingerprints,
    records: Sequence[Fingerprint],
    *,
    has_table: bool,
) -> None:
    """Checks that a run is resumed on the records that it began with.

    For example, a row was added to train.csv after the run had stopped. The
    message then names the file, with its number of rows then and now.

    Args:
        own_run: what the run in --output_dir states, None for a new run.
        set_fingerprints: the sets of the command.
        records: fingerprint of the records of the train set.
        has_table: whether the sets are rows of --data_file.

    Raises:
        ValueError: the records differ. The message names the file.
    """
    if own_run is None:
        return
    recorded = own_run.training_settings.get("train_records", records)
    if recorded == records:
        return
    difference = _describe_train_set_difference(
        own_run, set_fingerprints, has_table=has_table
    )
    raise ValueError(
        f"{difference}. To train on it, set another --output_dir, with "
        f"--init_checkpoint={own_run.weights_path}"
    )


def _describe_train_set_difference(
    own_run: Preset, set_fingerprints: SetFingerprints, *, has_table: bool
) -> str:
    """Describes how the train set of a command differs from that of its run."""
    train_fingerprint = set_fingerprints[TRAIN_SET]
    sets_of_run = set_fingerprints_of(own_run)
    former = sets_of_run.get(TRAIN_SET, train_fingerprint)
    num_rows = _count_file_rows(
        set_fingerprints, train_fingerprint, has_table=has_table
    )
    num_former_rows = _count_file_rows(sets_of_run, former, has_table=has_table)
    file = train_fingerprint.file
    if file != former.file:
        return (
            f"{own_run.weights_path} was trained on {former.file}, "
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


def check_resumed_records(
    config: TrainingConfig,
    own_run: Preset | None,
    collected_settings: TrainingInputs,
) -> None:
    """Checks that a pretraining is resumed on the records that it began with.

    Args:
        config: the flags that the command resumes with.
        own_run: what the run in --output_dir states, None for a new run.
        collected_settings: the settings of the command besides the flags, with
            the fingerprints of the records.

    Raises:
        ValueError: the records differ. The message names the flag and a file.
    """
    if own_run is None:
        return
    folder = config.training.output_dir
    for name in _RECORD_FLAGS:
        recorded = own_run.training_settings.get(name)
        records = collected_settings.get(name)
        if records is None or not isinstance(recorded, list):
            continue
        if records == recorded:
            continue
        files = [str(entry[0]) for entry in records if entry not in recorded]
        raise ValueError(
            f"--{name}: the run in {folder} began with other records than "
            f"{', '.join(files) or 'these files'}. Set another --output_dir. "
            "To start from this run's weights, also set "
            f"--init_checkpoint={folder}"
        )
