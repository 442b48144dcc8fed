"""Compares a command with the settings that the run it resumes began with.

`create_training_settings` creates these settings, which model.json records.
This module imports no TensorFlow.
"""

import json
from collections.abc import Mapping
from typing import Any

from model_folders.model_json import MODEL_JSON_FILE
from model_folders.model_json_types import TrainingSettings
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset
from options.declared_options import options_of
from options.metadata import Role
from training.config.training_config import TrainingConfig
from training.dev_set.rules import DEV_SET_RULE_ENTRY
from training.dev_set.set_fingerprints import SETS_ENTRY

# Roles of the flags that must not change when a run is resumed.
_COMPARED_ROLES = (Role.IDENTITY, Role.HEAD, Role.TRAINING)


def create_training_settings(
    config: TrainingConfig,
    preset: Preset | None,
    settings: Mapping[str, object],
) -> TrainingSettings:
    """Returns the settings for model.json, which `check_resumed` compares.

    For example, {"flags": {"learning_rate": 5e-05, ...}, "input_file": [...]}
    in pretraining. A resumed run keeps settings that this command does not
    know.

    Args:
        config: the flags of the command.
        preset: Preset of the weights, None for random weights.
        settings: JSON-serializable dict of settings, besides the flags.
    """
    now = _with_flags(config, settings)
    if preset and preset.is_own_run:
        return {**preset.training_settings, **now}
    return now


def _with_flags(
    config: TrainingConfig, settings: Mapping[str, object]
) -> TrainingSettings:
    """Returns settings as model.json stores them, with lists for tuples."""
    values = {
        **settings,
        "flags": config.flag_values_of(*_COMPARED_ROLES),
    }
    text = json.dumps(values)
    stored: TrainingSettings = json.loads(text)  # noqa: TID251  written above
    return stored


def check_resumed(
    config: TrainingConfig,
    preset: Preset | None,
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
        preset: Preset of the weights, None for random weights.
        settings: JSON-serializable dict of settings, besides the flags, {} to
            compare only the flags. Settings that the run recorded too must not
            change.

    Raises:
        ValueError: a flag or setting differs. The message names it. Or the
            folder does not state the settings.
    """
    if not (preset and preset.is_own_run):
        return
    folder = config.training.output_dir
    if not preset.training_settings:
        raise ValueError(
            f"--output_dir={folder} contains checkpoints, but no "
            f"{MODEL_JSON_FILE} with the settings of their training. Restore "
            "the file, or train on in another --output_dir, with "
            f"--init_checkpoint={folder}"
        )
    now = _select_compared_settings(_with_flags(config, settings))
    saved = _select_compared_settings(preset.training_settings)
    names = saved.keys() & now.keys()
    for flag in options_of(config, Role.TRAINING):
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


def _select_compared_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns {setting, or flag with its dashes: value} to compare."""
    # Any, because the settings have different types.
    values = {
        f"--{name}": value for name, value in settings.get("flags", {}).items()
    }
    # The sets are recorded for the card and for later runs. The rule of the dev
    # set follows from flags, which are compared, and from the first weights.
    names = settings.keys() - {SETS_ENTRY, "flags", DEV_SET_RULE_ENTRY}
    return values | {name: settings[name] for name in names}


def _has_grown(before: object, value: float | None) -> bool:
    """Returns whether a limit is larger now. None is no limit."""
    if before is None or value is None:
        return True
    return isinstance(before, int | float) and value > before
