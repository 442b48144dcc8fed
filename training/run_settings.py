"""Settings that must not change in a resume, in run_settings.json."""

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from files import json_files
from files.atomic import write_text
from modeling.config import BertConfig
from training.config import NETWORK
from training.run_folder import AVERAGES, BEST, checkpoint_steps

FILE = "run_settings.json"
# Changes nothing that is trained, or earlier versions did not record it: a
# resumed run may add it, or do without it.
MAY_BE_MISSING = frozenset(
    {"eval_input_file", "tokenizer", "train_records_checksum"}
)
# Of a configuration, what prediction does not read: training's, and entries
# that no network uses.
_NOT_IDENTITY = (
    "attention_probs_dropout_prob",
    "hidden_dropout_prob",
    "initializer_range",
    "unused",
)


def check_same(
    output_dir: str | os.PathLike[str],
    settings: Mapping[str, Any],
    is_chief: bool = True,
    are_all: bool = True,
) -> None:
    """Refuses to resume a run with other settings than it started with.

    Args:
        output_dir: folder of the run.
        settings: JSON-serializable dict of what must stay the same; those of
            MAY_BE_MISSING may be left out.
        is_chief: whether to write settings that are new.
        are_all: False before all are known; nothing is written then.

    Raises:
        ValueError: a setting differs; the message names it.
    """
    settings = json.loads(json.dumps(settings))
    saved = _saved_settings(output_dir)
    if saved is not None:
        names = settings.keys() | (saved.keys() if are_all else ())
        for name in sorted(names):
            if name in MAY_BE_MISSING and not (
                name in saved and name in settings
            ):
                continue
            former, given = saved.get(name), settings.get(name)
            if former != given:
                name, former, given = _difference(name, former, given)
                raise ValueError(
                    f"--output_dir={output_dir} holds a run with {name}="
                    f"{former}; received {given}. Give the former to "
                    "resume that run, or another --output_dir"
                )
    if not are_all:
        return
    settings = {**settings, **(saved or {})}
    if is_chief and settings != saved:
        write_text(
            Path(output_dir) / FILE,
            json.dumps(settings, indent=2, sort_keys=True) + "\n",
        )


def check_identity(
    flag: str, path: str | os.PathLike[str], given: Mapping[str, Any]
) -> None:
    """Refuses to use a model as another one than it was trained as.

    Args:
        flag: the flag that named the model, for the message.
        path: the checkpoint, or its folder.
        given: {setting: value} of the model; those that its run did not record
            are not compared.

    Raises:
        ValueError: a setting differs; the message names it.
    """
    saved = read_settings(path)
    for name in given.keys() & saved.keys():
        former, now = saved[name], given[name]
        if name == "bert_config":
            former, now = (
                {
                    entry: value
                    for entry, value in dataclasses.asdict(
                        BertConfig.from_dict(config)
                    ).items()
                    if entry not in _NOT_IDENTITY
                }
                for config in (former, now)
            )
        if former != now:
            name, former, now = _difference(name, former, now)
            raise ValueError(
                f"{flag}={os.fspath(path)} was trained with {name}={former}; "
                f"received {now}. Use what it was trained with"
            )


def read_network(path: str | os.PathLike[str]) -> dict[str, bool]:
    """Returns the network options that a run was trained with.

    Args:
        path: see `read_settings`. Without settings, none are set.

    Returns:
        {name in NETWORK: whether it is set}.
    """
    saved = read_settings(path)
    return {name: saved.get(name, False) for name in NETWORK}


def read_settings(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns the settings of the run that wrote a checkpoint.

    Args:
        path: the checkpoint, or its folder.

    Returns:
        dict, empty without settings of a run, as in a release.
    """
    folder = Path(path)
    if not folder.is_dir():
        folder = folder.parent
    if folder.name in (BEST, AVERAGES):
        folder = folder.parent
    # Several runs in a folder share the first one's.
    for place in (folder, folder / "run_1"):
        if (place / FILE).is_file():
            return json_files.read_json(place / FILE)
    return {}


def _saved_settings(
    output_dir: str | os.PathLike[str],
) -> dict[str, Any] | None:
    """Returns the settings of the run in a folder; None for a new one."""
    path = Path(output_dir) / FILE
    if not (checkpoint_steps(output_dir) and path.is_file()):
        return None
    try:
        return json_files.read_json(path)
    except ValueError as error:
        raise ValueError(
            f"{error}; it holds the settings the run was started with: "
            "restore it from a backup, or delete it if you are sure that "
            "they are the same, or train into another --output_dir"
        ) from error


def _difference(name: str, former: Any, given: Any) -> tuple[str, Any, Any]:
    """Returns the name and values of the differing part of a setting."""
    if isinstance(former, dict) and isinstance(given, dict):
        for key in sorted(former.keys() | given.keys()):
            if former.get(key) != given.get(key):
                return _difference(
                    f"{name}.{key}", former.get(key), given.get(key)
                )
    if isinstance(former, list) and isinstance(given, list):
        # For example, one of many files.
        gone = [value for value in former if value not in given]
        come = [value for value in given if value not in former]
        if gone and come:
            return name, gone, come
    return name, former, given
