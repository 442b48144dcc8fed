"""Compares, describes and writes the settings of a run in its folder.

A run resumes only with the settings that it began with, so its settings and
flags are compared with model.json. This module imports no TensorFlow.
"""

import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.text.tokenization import FullTokenizer
from files import flags, json_files
from files.atomic import write_bytes, write_json
from files.flags import Role
from files.paths import StrPath
from modeling import hub, presets
from modeling.config import BertConfig
from modeling.labels import format_labels
from modeling.presets import BEST, FILE, PREFIX, checkpoint_steps
from modeling.tokenizer_files import describe_tokenizer

if TYPE_CHECKING:
    from training.config import TrainingConfig

# Settings that a resumed run may add or omit, because they do not change the
# training. The flags are compared one by one.
MAY_BE_MISSING = frozenset(
    ("eval_input_file", "flags", "init_checkpoint", "tokenizer")
)
# Roles of the flags that must not change when a run is resumed.
_COMPARED = (Role.IDENTITY, Role.HEAD, Role.TRAINING)
# Flags that name machines or accounts, which model.json must not contain.
_ADDRESSES = frozenset({"gcp_project", "master", "tpu_name", "tpu_zone"})


def remove_checkpoints(folder: StrPath, steps: Iterable[int]) -> None:
    """Deletes the checkpoints of `steps`, but no files with similar names."""
    for step in steps:
        # Delete the index first. Without an index, the data file that remains
        # is not read as a checkpoint.
        for end in (".index", ".data-00000-of-00001"):
            path = Path(folder) / f"{PREFIX}-{step}{end}"
            path.unlink(missing_ok=True)


def best_folder(output_dir: StrPath) -> Path:
    """Returns the folder of a run's best weights."""
    return Path(output_dir, BEST)


def contains(output_dir: StrPath, path: str) -> bool:
    """Returns whether a path names a run's folder, or a checkpoint in it."""
    folder = presets.folder_of(path)
    are_there = os.path.isdir(output_dir) and os.path.isdir(folder)
    return are_there and os.path.samefile(output_dir, folder)


def check_flags(config: "TrainingConfig", saved: Mapping[str, Any]) -> None:
    """Checks that a resumed run changes no flag that it must not change.

    A flag that is defined with `may_grow` may increase, or change from or to
    None (no limit).

    Args:
        config: the flags.
        saved: settings that the run recorded (`Preset.training`).

    Raises:
        ValueError: a flag differs. The message names the flag.
    """
    known, now = saved.get("flags", {}), _flag_values(config, *_COMPARED)
    for field in flags.fields(config, *_COMPARED):
        name, may_grow = field.name, flags.meta_of(field).may_grow
        if name not in known or name not in now or known[name] == now[name]:
            continue
        before, value = known[name], now[name]
        if may_grow and (before is None or value is None or value > before):
            continue
        raise ValueError(
            f"--output_dir={config.output_dir} contains a run with --{name}="
            f"{before}; received {value}. Set another --output_dir. To start "
            "from this run's weights, also set --init_checkpoint="
            f"{config.output_dir}"
        )


def check_settings(
    config: "TrainingConfig",
    saved: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Checks that a run is resumed with the settings it started with.

    Args:
        config: the flags.
        saved: settings that the run recorded, {} for a new run.
        settings: JSON-serializable dict of settings, besides the flags, that
            must not change. Names in MAY_BE_MISSING are optional.

    Returns:
        the settings to record.

    Raises:
        ValueError: a setting differs. The message names the setting.
    """
    settings = {**settings, "flags": _flag_values(config, *_COMPARED)}
    # Compare the settings as model.json stores them, with lists for tuples.
    settings = json.loads(json.dumps(settings))
    optional = {*MAY_BE_MISSING}
    if "init_checkpoint" in settings:
        # A run that recorded no init_checkpoint began with random weights, so
        # --init_checkpoint is an error now.
        optional.discard("init_checkpoint")
    names = settings.keys() | saved.keys()
    names -= {"flags"} | optional - (settings.keys() & saved.keys())
    found = presets.first_difference(saved, settings, names) if saved else None
    if found:
        name, before, value = found
        name = f"--{name}" if name == "init_checkpoint" else name
        raise ValueError(
            f"--output_dir={config.output_dir} contains a run with {name}="
            f"{before}; received {value}. To resume the run, use the run's "
            "value. For a new run, set another --output_dir"
        )
    return {**saved, **settings}


def describe(
    config: "TrainingConfig", model: Any, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the contents of model.json for a run's weights.

    Args:
        config: the flags.
        model: the model.
        settings: result of `check_settings`.
    """
    head = _flag_values(config, Role.HEAD, Role.DECODING)
    # In the settings, max_seq_length is the sum over all choices of an
    # example. The flag is the length of one choice.
    names = head.keys() & settings.keys() - {"max_seq_length"}
    resolved = {name: settings[name] for name in names}
    return {
        "version": presets.VERSION,
        "task": {"name": type(model).__name__, **head, **resolved},
        "origin": {
            "script": os.path.basename(sys.argv[0]),
            "command": _command(config),
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
    folder: Path,
    description: Mapping[str, Any],
    bert_config: BertConfig,
    tokenizer: FullTokenizer | None,
    labels: Sequence[str] | None,
) -> None:
    """Writes the files that describe a run's weights into a folder.

    Args:
        folder: folder of the weights, created if missing.
        description: result of `describe`.
        bert_config: configuration of the network.
        tokenizer: tokenizer of the texts, or None if it is unknown.
        labels: names of the outputs, in order. None = write no labels.txt.

    Raises:
        ValueError: files in the folder describe another model.
        OSError: a file cannot be written.
    """
    former = folder / FILE
    found = json_files.read_json(former) if former.is_file() else {"files": []}
    listed = found.get("files", [])
    # The list of a run's folder contains no weights.
    if any(name.endswith((".index", ".safetensors")) for name in listed) or (
        "files" not in found and "origin" not in found
    ):
        raise ValueError(
            f"--output_dir={folder} contains a {FILE} that no run in this "
            "folder wrote; choose another --output_dir"
        )
    texts = {"bert_config.json": bert_config.to_json_string().encode()}
    if tokenizer:
        longest = bert_config.max_position_embeddings
        texts |= describe_tokenizer(tokenizer, longest)
    ours = {*listed}
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
    if labels is not None:
        write_bytes(folder / "labels.txt", format_labels(labels).encode())
    write_json(former, {**description, "files": sorted(ours)})


def _is_same(path: Path, text: bytes) -> bool:
    """Returns whether the file at `path` agrees with the contents `text`."""
    found = path.read_bytes()
    if path.suffix != ".json":
        return found == text
    # Compare only the entries of `text`. If another program saved the file, it
    # may contain more entries and a different model_max_length.
    former = json_files.parse_json(found, str(path))
    entries = json_files.parse_json(text, path.name)
    entries.pop("model_max_length", None)
    return all(
        former.get(name, entries[name]) == entries[name] for name in entries
    )


def _flag_values(config: Any, *roles: Role) -> dict[str, Any]:
    """Returns {flag: value} of the flags with these roles, without paths."""
    return {
        field.name: vars(config)[field.name]
        for field in flags.fields(config, *roles)
        if flags.meta_of(field).kind is None
    }


def _command(config: "TrainingConfig") -> dict[str, Any]:
    """Returns {flag on the command line: value}, without folders in paths.

    A model of the hub keeps its name, and gets the commit that was downloaded.
    """
    paths = {
        field.name
        for field in flags.fields(config, *Role)
        if flags.meta_of(field).kind
    }
    found = {
        name: re.sub(r"[^,]*/(?=[^,/])|/+(?=,|$)", "", str(value))
        if name in paths
        else value
        for name, value in config.given_flags.items()
        if name not in _ADDRESSES
    }
    for name in found.keys() & paths:
        if source := hub.source_of(vars(config)[name] or ""):
            found[name] = source
    return found
