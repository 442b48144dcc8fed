"""Checks that a resumed run keeps the settings and the data it began with.

A run keeps its flags and settings, its train set, and its records. model.json
records all of them (run_files/settings_creation.py). This module imports no
TensorFlow.
"""

from collections.abc import Sequence
from typing import Literal

from model_folders.fingerprints import FingerprintEntry
from model_folders.model_json import MODEL_JSON_FILE
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset
from model_folders.training_settings import (
    DEV_SET_RULE_ENTRY,
    SETS_ENTRY,
    RunFlagsEntry,
    TrainingInputs,
    TrainingSettings,
)
from options.fields import Role
from training.config.training_config import TrainingConfig
from training.dev_set.set_fingerprints import (
    DEV_SET,
    TRAIN_SET,
    SetFingerprint,
    SetFingerprints,
    set_fingerprints_of,
)

# Settings that are the flags of records.
_RECORD_FLAGS: tuple[Literal["input_file", "eval_input_file"], ...] = (
    "input_file",
    "eval_input_file",
)


def check_resumed_flags(
    config: TrainingConfig, run_preset: Preset | None
) -> None:
    """Checks that a run is resumed with the flags it began with.

    A command calls this function before any slow work. Later it also knows its
    other settings, and calls `check_resumed_settings`.

    Args:
        config: the flags that the command resumes with.
        run_preset: Preset of the run in --output_dir, None for a new run.

    Raises:
        ValueError: a flag differs. The message names it. Or the folder does not
            state the settings.
    """
    flags = TrainingSettings(inputs={"flags": config.to_flags_entry()})
    check_resumed_settings(config, run_preset, flags)


def check_resumed_settings(
    config: TrainingConfig,
    run_preset: Preset | None,
    current_training_settings: TrainingSettings,
) -> None:
    """Checks that a run is resumed with the settings it began with.

    The flags are among these settings. A new run may have any. A flag that is
    defined with `may_grow` may increase, or change from or to None (no limit).

    For example, a run that began with --learning_rate=5e-5 and
    --num_train_epochs=3 may resume with 4 epochs, but not with
    --learning_rate=1e-5.

    Args:
        config: the flags that the command resumes with.
        run_preset: Preset of the run in --output_dir, None for a new run.
        current_training_settings: training settings of the command. Those that
            the run recorded too must not differ.

    Raises:
        ValueError: a setting differs. The message names it. Or the folder does
            not state the settings.
    """
    if run_preset is None:
        return
    folder = config.training.output_dir
    if run_preset.training_settings.is_empty:
        raise ValueError(
            f"--output_dir={folder} contains checkpoints, but no "
            f"{MODEL_JSON_FILE} with the settings of their training. Restore "
            "the file, or train on in another --output_dir, with "
            f"--init_checkpoint={folder}"
        )
    recorded = _select_compared_settings(run_preset.training_settings)
    current = _select_compared_settings(current_training_settings)
    names = recorded.keys() & current.keys()
    for flag in config.list_options(Role.TRAINING):
        name = f"--{flag.name}"
        may_grow = name in names and flag.properties.get("may_grow")
        if may_grow and _may_change_limit(recorded[name], current[name]):
            names.remove(name)
    difference = settings_check.find_first_difference(recorded, current, names)
    if difference:
        raise ValueError(
            f"--output_dir={folder} contains a run with {difference.name}="
            f"{difference.recorded}; received {difference.current}. Set "
            "another --output_dir. To start from this run's weights, also set "
            f"--init_checkpoint={folder}"
        )


def _select_compared_settings(
    training_settings: TrainingSettings,
) -> dict[str, object]:
    """Returns {setting, or flag with its dashes: value} to compare."""
    flags = training_settings.inputs.get("flags", RunFlagsEntry())
    # The sets are recorded for the card and for later runs. The rule of the dev
    # set follows from flags, which are compared, and from the first weights.
    left_out = {SETS_ENTRY, "flags", DEV_SET_RULE_ENTRY}
    return {
        **{f"--{name}": value for name, value in flags.items()},
        **training_settings.head,
        **{
            name: value
            for name, value in training_settings.inputs.items()
            if name not in left_out
        },
    }


def _may_change_limit(recorded: object, current: object) -> bool:
    """Returns whether a resumed run may replace a recorded limit.

    A limit may increase, be removed (None), or be set where there was none.
    """
    if recorded is None or current is None:
        return True
    if isinstance(recorded, int | float) and isinstance(current, int | float):
        return current > recorded
    return False


def check_resumed_train_set(
    run_preset: Preset | None,
    set_fingerprints: SetFingerprints,
    current_records: Sequence[FingerprintEntry],
    *,
    has_table: bool,
) -> None:
    """Checks that a run is resumed on the records that it began with.

    For example, a row was added to train.csv after the run had stopped. The
    message then names the file, with its number of rows then and now.

    Args:
        run_preset: Preset of the run in --output_dir, None for a new run.
        set_fingerprints: the sets of the command.
        current_records: fingerprints of the records of its train set.
        has_table: whether the sets are rows of --data_file.

    Raises:
        ValueError: the records differ. The message names the file.
    """
    if run_preset is None:
        return
    recorded_records = run_preset.training_settings.inputs.get("train_records")
    if recorded_records is None or recorded_records == current_records:
        return
    difference = _describe_train_set_difference(
        run_preset, set_fingerprints, has_table=has_table
    )
    raise ValueError(
        f"{difference}. To train on it, set another --output_dir, with "
        f"--init_checkpoint={run_preset.weights_path}"
    )


def _describe_train_set_difference(
    run_preset: Preset, set_fingerprints: SetFingerprints, *, has_table: bool
) -> str:
    """Describes how the train set of a command differs from that of its run."""
    recorded_sets = set_fingerprints_of(run_preset)
    current = set_fingerprints[TRAIN_SET]
    recorded = recorded_sets.get(TRAIN_SET, current)
    num_rows = _count_file_rows(set_fingerprints, current, has_table=has_table)
    num_recorded_rows = _count_file_rows(
        recorded_sets, recorded, has_table=has_table
    )
    file = current.file
    if file != recorded.file:
        return (
            f"{run_preset.weights_path} was trained on {recorded.file}, "
            f"{num_recorded_rows} rows, and {file} has {num_rows}"
        )
    if num_rows != num_recorded_rows:
        return (
            f"{file} has changed: {num_recorded_rows} rows then, {num_rows} now"
        )
    if current.checksum != recorded.checksum:
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
    run_preset: Preset | None,
    current_inputs: TrainingInputs,
) -> None:
    """Checks that a pretraining is resumed on the records that it began with.

    Args:
        config: the flags that the command resumes with.
        run_preset: Preset of the run in --output_dir, None for a new run.
        current_inputs: inputs of the command, with the fingerprints of its
            records.

    Raises:
        ValueError: the records differ. The message names the flag and a file.
    """
    if run_preset is None:
        return
    folder = config.training.output_dir
    for name in _RECORD_FLAGS:
        recorded = run_preset.training_settings.inputs.get(name)
        current = current_inputs.get(name)
        if current is None or not isinstance(recorded, list):
            continue
        if current == recorded:
            continue
        files = [str(entry[0]) for entry in current if entry not in recorded]
        raise ValueError(
            f"--{name}: the run in {folder} began with other records than "
            f"{', '.join(files) or 'these files'}. Set another --output_dir. "
            "To start from this run's weights, also set "
            f"--init_checkpoint={folder}"
        )
