"""Compares, describes and writes the settings of a run in its folder.

A run resumes only with the settings that it began with, so its settings and
flags are compared with model.json. This module imports no TensorFlow.
"""

import json
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from command_line import flags
from command_line.flags import Role
from data.text.tokenization import FullTokenizer
from files import json_files
from files.atomic import write_bytes, write_json
from files.paths import StrPath
from modeling import kinds, presets
from modeling.presets import BEST, FILE, Preset, checkpoint_steps
from modeling.tokenizer_files import describe_tokenizer
from training.config import TrainingConfig

if TYPE_CHECKING:
    import keras

# Roles of the flags that must not change when a run is resumed.
_COMPARED = (Role.IDENTITY, Role.HEAD, Role.TRAINING)


def check_resumed(
    config: TrainingConfig,
    preset: Preset | None,
    settings: Mapping[str, Any] = {},
) -> dict[str, Any]:
    """Checks that a run is resumed with the flags and settings it began with.

    A new run may have any. A flag that is defined with `may_grow` may increase,
    or change from or to None (no limit). The flags are compared before any slow
    work, and once more with the settings, which are known after it.

    Args:
        config: the flags.
        preset: Preset of the weights, None for random weights.
        settings: JSON-serializable dict of settings, besides the flags. Those
            that the run recorded too must not change.

    Returns:
        the settings to record.

    Raises:
        ValueError: a flag or setting differs. The message names it. Or the
            folder does not state the settings.
    """
    flag_values = _flag_values(config, *_COMPARED)
    # Compare the settings as model.json stores them, with lists for tuples.
    found = json.loads(json.dumps({**settings, "flags": flag_values}))
    if not (preset and preset.is_resumed):
        return found
    folder = config.training.output_dir
    if not preset.training:
        raise ValueError(
            f"--output_dir={folder} contains checkpoints, but no {FILE} with "
            "the settings of their training. Restore the file, or train on in "
            f"another --output_dir, with --init_checkpoint={folder}"
        )
    now, saved = map(_compared_settings, (found, preset.training))
    for each in flags.flags_of(config, Role.TRAINING):
        name = f"--{each.name}"
        if each.meta.may_grow and name in now:
            before = saved.get(name)
            value = now[name]
            is_unlimited = before is None or value is None
            is_number = isinstance(before, int | float)
            if is_unlimited or (is_number and value > before):
                del now[name]
    names = saved.keys() & now.keys()
    if difference := presets.first_difference(saved, now, names):
        name, before, value = difference
        raise ValueError(
            f"--output_dir={folder} contains a run with {name}={before}; "
            f"received {value}. Set another --output_dir. To start from this "
            f"run's weights, also set --init_checkpoint={folder}"
        )
    return {**preset.training, **found}


# The checksums also name older files, and the data are for the card only. The
# split follows from the flags, and from the start of the run.
def _compared_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    known = {f"--{k}": v for k, v in settings.get("flags", {}).items()}
    names = settings.keys() - {"checksums", "data", "flags", "split"}
    return known | {name: settings[name] for name in names}


def describe(
    config: TrainingConfig,
    command: Mapping[str, Any],
    model: "keras.Model",
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Returns the contents of model.json. For the arguments, see `write`."""
    head = _flag_values(config, Role.HEAD, Role.DECODING)
    # A setting may be the value that the task chose for the flag.
    head |= {name: settings[name] for name in head.keys() & settings.keys()}
    return {
        "version": presets.VERSION,
        "task": {"name": kinds.kind_of(model), **head},
        "origin": {
            "script": os.path.basename(sys.argv[0]),
            "command": command,
            "settings": settings,
            "versions": {
                "python": platform.python_version(),
                **{n: metadata.version(n) for n in ("keras", "tensorflow")},
            },
        },
    }


def set_best_step(folder: StrPath, step: int) -> None:
    """Names the step of a run's best weights in its model.json."""
    file = Path(folder, FILE)
    if file.is_file():
        write_json(file, {**json_files.read_json(file), "best_step": step})


def write(
    config: TrainingConfig,
    command: Mapping[str, Any],
    model: "keras.Model",
    settings: Mapping[str, Any],
    tokenizer: FullTokenizer | None,
    labels: Sequence[str] | None,
    best_step: int | None = None,
) -> dict[str, Any]:
    """Writes the files that describe a run's weights beside the weights.

    Args:
        config: the flags.
        command: {flag that the user set: value}, without folders.
        model: the model.
        settings: result of `check_resumed`.
        tokenizer: tokenizer of the texts, or None if it is unknown.
        labels: names of the outputs, in order. None = write no labels.txt.
        best_step: the best step so far, None before the first evaluation.

    Returns:
        the contents of model.json, without the entries of the run's folder.

    Raises:
        ValueError: files in a folder describe another model.
        OSError: a file cannot be written.
    """
    texts = {"bert_config.json": model.config.to_json_string().encode()}
    if tokenizer:
        longest = model.config.max_position_embeddings
        texts |= describe_tokenizer(tokenizer, longest)
    if labels is not None:
        texts["labels.txt"] = "".join(f"{x}\n" for x in labels).encode()
    description = describe(config, command, model, settings)
    # The best step is the last entry, as `set_best_step` writes it.
    last = {} if best_step is None else {"files": [], "best_step": best_step}
    _write_files(Path(config.training.output_dir), texts, description | last)
    if config.keeps_best:
        _write_files(Path(config.training.output_dir, BEST), texts, description)
    return description


# Writes {name: contents} and the description of model.json. A user's own files
# are not replaced.
def _write_files(
    folder: Path, texts: Mapping[str, bytes], description: Mapping[str, Any]
) -> None:
    former = folder / FILE
    listed = []
    if former.is_file():
        listed = json_files.read_json(former).get("files")
        # The list of a run's folder contains no weights and no exports.
        weights = re.compile(r".*\.(index|safetensors|tflite|onnx)")
        if listed is None or any(weights.fullmatch(str(n)) for n in listed):
            raise ValueError(
                f"--output_dir={folder} contains a {FILE} that no run in this "
                "folder wrote; choose another --output_dir"
            )
    ours = {*map(str, listed)}
    for name, text in texts.items():
        path = folder / name
        is_left = name in ours and not checkpoint_steps(folder)
        if is_left or not path.is_file():
            write_bytes(path, text)
            ours.add(name)
        elif not _is_same(path, text):
            raise ValueError(
                f"{path} does not describe the model that this command would "
                "train; choose another --output_dir"
            )
    write_json(former, {**description, "files": sorted(ours)})


def _is_same(path: Path, text: bytes) -> bool:
    found = path.read_bytes()
    if path.suffix != ".json":
        return found == text
    # Compare only the entries of `text`. If another program saved the file, it
    # may contain more entries and a different model_max_length.
    former = json_files.parse_json(found, str(path))
    entries = json_files.parse_json(text, path.name)
    entries.pop("model_max_length", None)
    return all(former.get(name, v) == v for name, v in entries.items())


# Returns {flag: value} of the flags with these roles, without paths.
def _flag_values(config: TrainingConfig, *roles: Role) -> dict[str, Any]:
    values = flags.flat(config)
    return {
        each.name: values[each.name]
        for each in flags.flags_of(config, *roles)
        if each.meta.kind is None
    }
