"""Reads, checks and describes the folder of a training run.

A run resumes only with the settings that it began with, so its settings and
flags are compared with model.json. This module imports no TensorFlow.
"""

import functools
import json
import os
import platform
import re
import sys
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import modeling
from data.text.tokenization import FullTokenizer
from files import flags, json_files
from files.atomic import write_bytes, write_json, write_text
from files.flags import Role
from modeling import presets, steps
from modeling.labels import format_labels
from modeling.presets import FILE, Preset

if TYPE_CHECKING:
    from training.config import TrainingConfig
    from training.trainer import Trainer

PREFIX = steps.PREFIX
# Settings that a resumed run may add or omit, because they do not change the
# training. The flags are compared one by one.
MAY_BE_MISSING = frozenset(
    ("eval_input_file", "flags", "init_checkpoint", "tokenizer")
)
# Roles of the flags that must not change when a run is resumed.
_COMPARED = (Role.IDENTITY, Role.HEAD, Role.TRAINING)
# Flags that name machines or accounts, which model.json must not contain.
_ADDRESSES = frozenset({"gcp_project", "master", "tpu_name", "tpu_zone"})


def checkpoint_steps(folder: str | os.PathLike[str]) -> list[int]:
    """Returns the steps of complete checkpoints in a folder, oldest first."""
    files = Path(folder).glob(f"{PREFIX}-*.index")
    return steps.checkpoint_steps(file.name for file in files)


def remove_checkpoints(
    folder: str | os.PathLike[str], steps: Iterable[int]
) -> None:
    """Deletes the checkpoints of `steps`, but no files with similar names."""
    for step in steps:
        # Delete the index first. Without an index, the data file that remains
        # is not read as a checkpoint.
        for end in (".index", ".data-00000-of-00001"):
            path = Path(folder) / f"{PREFIX}-{step}{end}"
            path.unlink(missing_ok=True)


class RunFolder:
    """Reads and writes the folder of a run (--output_dir).

    Args:
        path: path of the folder.

    Attributes:
        path: path of the folder.
        best: folder of the weights of the best step.
        settings: settings that must not change when the run is resumed. `check`
            sets them.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.best = self.path / steps.BEST
        self.settings: Mapping[str, Any] = {}

    @property
    def steps(self) -> list[int]:
        """Steps of the complete checkpoints, oldest first."""
        return checkpoint_steps(self.path)

    @functools.cached_property
    def saved(self) -> Preset:
        """Description of the folder's weights, read at the first access.

        The description is empty if the folder contains no checkpoint.

        Raises:
            ValueError: model.json is malformed.
        """
        if not self.steps:
            return Preset(os.fspath(self.path))
        try:
            return presets.read(self.path)
        except ValueError as error:
            raise ValueError(
                f"{error}. This file contains the settings that the run was "
                "started with. Restore it from a backup, or delete it if you "
                "are sure that you set the same flags, or train into another "
                "--output_dir"
            ) from error

    @property
    def is_described(self) -> bool:
        """Whether the folder contains a model.json."""
        return (self.path / FILE).is_file()

    def contains(self, path: str) -> bool:
        """Returns whether a path names this folder, or a checkpoint in it."""
        folder = presets.folder_of(path)
        are_there = self.path.is_dir() and os.path.isdir(folder)
        return are_there and os.path.samefile(self.path, folder)

    def check(
        self,
        config: "TrainingConfig",
        settings: Mapping[str, Any],
        are_all: bool = True,
    ) -> None:
        """Checks that the run is resumed with the settings it started with.

        Args:
            config: the flags.
            settings: JSON-serializable dict of settings, besides the flags,
                that must not change. Keys in MAY_BE_MISSING are optional.
            are_all: whether `settings` is complete. If False, missing settings
                are ignored.

        Raises:
            ValueError: a setting differs. The message names the setting.
        """
        settings = {**settings, "flags": flag_values(config, *_COMPARED)}
        # Compare the settings as model.json stores them, with lists for tuples.
        settings = json.loads(json.dumps(settings))
        saved = self.saved.training
        self.settings = {**saved, **settings}
        if not saved:
            return
        optional = MAY_BE_MISSING
        if "init_checkpoint" in settings:
            # A run that recorded no init_checkpoint began with random weights,
            # so --init_checkpoint is an error now.
            optional = optional - {"init_checkpoint"}
        names = settings.keys() | (saved.keys() if are_all else ())
        names -= {"flags"} | optional - (settings.keys() & saved.keys())
        if found := presets.first_difference(saved, settings, names):
            name, former, now = found
            if name == "init_checkpoint":
                raise ValueError(
                    f"--output_dir={config.output_dir} contains a run that did "
                    "not begin with the weights of --init_checkpoint="
                    f"{config.init_checkpoint}. Remove the flag to resume the "
                    "run with its own weights, or set another --output_dir"
                )
            raise ValueError(
                f"--output_dir={config.output_dir} contains a run with {name}="
                f"{former}; received {now}. To resume the run, use the run's "
                "value. For a new run, set another --output_dir"
            )
        _check_flags(config, saved.get("flags", {}), settings["flags"])

    def describe(self, config: "TrainingConfig", model: Any) -> dict[str, Any]:
        """Returns the contents of model.json for the weights of `model`."""
        head = flag_values(config, Role.HEAD, Role.DECODING)
        resolved = {
            name: self.settings[name] for name in head if name in self.settings
        }
        # In the settings, max_seq_length is the sum over all choices of an
        # example. The flag is the length of one choice.
        resolved.pop("max_seq_length", None)
        return {
            "version": presets.VERSION,
            "task": {"name": type(model).__name__, **head, **resolved},
            "origin": {
                "script": os.path.basename(sys.argv[0]),
                "command": _command(config),
                "settings": self.settings,
                "versions": {
                    "python": platform.python_version(),
                    **{n: metadata.version(n) for n in ("keras", "tensorflow")},
                },
            },
        }

    def set_best_step(self, step: int) -> None:
        """Names the step of the best weights in model.json."""
        file = self.path / FILE
        if self.is_described:
            write_json(file, {**json_files.read_json(file), "best_step": step})

    def write(self, trainer: "Trainer", *folders: Path) -> None:
        """Writes the files that describe a trainer's weights into folders."""
        description = self.describe(trainer.config, trainer.model)
        about = trainer.model.config, trainer.tokenizer, trainer.labels
        for folder in folders:
            write(folder, description, *about)
        if trainer.history.best_step is not None:
            self.set_best_step(trainer.history.best_step)


def _check_flags(
    config: "TrainingConfig", saved: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    """Checks that a resumed run changes no flag that it must not change.

    Ignores flags that the script that began the run does not define. A flag
    that is defined with `may_grow` may increase, or change from or to None (no
    limit).
    """
    for field in flags.fields(config, *_COMPARED):
        name, meta = field.name, flags.meta_of(field)
        if name not in saved or name not in given or saved[name] == given[name]:
            continue
        former, now = saved[name], given[name]
        if meta.may_grow and (former is None or now is None or now > former):
            continue
        raise ValueError(
            f"--output_dir={config.output_dir} contains a run with --{name}="
            f"{former}; received {now}. Set another --output_dir. To start "
            "from this run's weights, also set --init_checkpoint="
            f"{config.output_dir}"
        )


def write(
    folder: Path,
    description: Mapping[str, Any],
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
    labels: Sequence[str] | None,
) -> None:
    """Writes the files that describe a run's weights into a folder.

    Args:
        folder: folder of the weights, created if missing.
        description: result of `RunFolder.describe`.
        bert_config: configuration of the network.
        tokenizer: tokenizer of the texts, or None if it is unknown.
        labels: names of the outputs, in order. None = write no labels.txt.

    Raises:
        ValueError: files in the folder describe another model.
        OSError: a file cannot be written.
    """
    from modeling import tokenizer_files

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
        texts |= tokenizer_files.describe_tokenizer(
            tokenizer, bert_config.max_position_embeddings
        )
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
        write_text(folder / "labels.txt", format_labels(labels))
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
        former.get(name, value) == value for name, value in entries.items()
    )


def flag_values(config: Any, *roles: Role) -> dict[str, Any]:
    """Returns {flag: value} of the flags with these roles.

    Omits flags that name files or folders.
    """
    return {
        field.name: _without_folders(getattr(config, field.name))
        for field in flags.fields(config, *roles)
        if flags.meta_of(field).kind is None
    }


def _command(config: "TrainingConfig") -> dict[str, Any]:
    """Returns {flag on the command line: value}, without folders in paths."""
    paths = {
        field.name
        for field in flags.fields(config, *Role)
        if flags.meta_of(field).kind
    }
    return {
        name: ",".join(map(_base_name, str(value).split(",")))
        if name in paths or re.match(r"[/~.]|\w+://", str(value))
        else _without_folders(value)
        for name, value in config.given_flags.items()
        if name not in _ADDRESSES
    }


def _base_name(path: str) -> str:
    """Returns the last part of a path or URL, never a host or a bucket."""
    path = urllib.parse.urlsplit(path).path if "://" in path else path
    return os.path.basename(path.rstrip("/"))


def _without_folders(value: Any) -> Any:
    """Returns the last part of an existing path, else `value` itself."""
    is_path = isinstance(value, str) and os.path.exists(value)
    return os.path.basename(value) if is_path else value
