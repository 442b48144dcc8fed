"""Stores a run's small files in its checkpoints, and restores them.

A power cut can leave a file empty, cut off, or with zeros at its end, because
disks may report a sync too early. So each checkpoint contains the texts of the
files beside it.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from absl import logging

import modeling
from files import run_files
from files.atomic import write_bytes
from files.json_files import parse_json
from modeling.checkpoints import tf1
from modeling.checkpoints.huggingface import is_huggingface
from modeling.checkpoints.labels import LABELS_FILE
from training import model_folder
from training.callbacks import history
from training.run_folder import PREFIX, checkpoint_steps

# Names of files to store completely, if they are in the checkpoint's folder.
_WHOLE = (
    model_folder.FILE,
    "bert_config.json",
    "tokenizer_config.json",
    LABELS_FILE,
    "eval_results.json",
)
# Settings in model.json that must agree with the weights.
_IDENTITY = {
    "bert_config",
    "labels",
    "output_mode",
    "tokenizer",
    *model_folder.NETWORK,
}
_CHECKPOINT_LINE = b'{"kind": "checkpoint", '


def pack(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Packs a run's small files into one string variable of a checkpoint.

    Args:
        folder: folder of the checkpoint. Of the run's history.jsonl, only the
            line of the newest checkpoint is packed. It contains the hours
            trained so far.
        more: {name: text} of files that are about to be written to the folder.

    Returns:
        {name of the variable: JSON of the files}, or {} without files.
    """
    found = {
        name: path.read_bytes().decode(errors="replace")
        for name in _WHOLE
        if (path := folder / name).is_file()
    }
    path = folder / history.FILE
    lines = path.read_bytes().splitlines(True) if path.is_file() else []
    for line in reversed(lines):
        if line.startswith(_CHECKPOINT_LINE):
            found[history.FILE] = line.decode()
            break
    found |= more
    return {tf1.RUN_STATE: json.dumps(found)} if found else {}


def mend(output_dir: str | os.PathLike[str], is_own: bool = True) -> None:
    """Restores a run's files if a power cut emptied or truncated them.

    The newest checkpoint contains a copy of each file. A file is replaced only
    if its contents are the beginning of the copy, perhaps followed by zeros. So
    a file that the user changed is kept.

    Args:
        output_dir: folder of the run.
        is_own: whether this process locked the folder. If not, the history does
            not change, because another process may be adding to it.

    Raises:
        OSError: a file cannot be read or written.
    """
    names = (*_WHOLE, *[history.FILE] * is_own)
    for folder in run_files.folders(output_dir):
        for name, text in _read(folder).items():
            if name in names and (folder / name).is_file():
                _mend(folder / name, str(text).encode())


def check(path: str | os.PathLike[str]) -> None:
    """Checks that the files beside a run's weights describe these weights.

    The check fails if checkpoints of another run were copied into the folder,
    or if the lines of labels.txt were reordered.

    Args:
        path: path of the run, or of a checkpoint in it.

    Raises:
        ValueError: a file beside a checkpoint does not contain the network,
            tokenizer, --output_mode or order of labels that the checkpoint
            records.
    """
    prefixes: list[str] = []
    with contextlib.suppress(OSError):
        # Loading the weights reports that they are missing or damaged.
        prefixes.append(modeling.find_checkpoint(path))
    if prefixes and os.path.isdir(path):
        steps = checkpoint_steps(path)[-1:]
        prefixes += [os.path.join(path, f"{PREFIX}-{step}") for step in steps]
    for prefix in dict.fromkeys(prefixes):
        texts: dict[str, str] = {}
        # A checkpoint may be damaged, or a run that still trains may delete it.
        with contextlib.suppress(OSError, ValueError):
            texts = {} if is_huggingface(prefix) else _read_texts(prefix)
        for name in (model_folder.FILE, LABELS_FILE):
            file = Path(prefix).with_name(name)
            if name not in texts or not file.is_file():
                continue
            stored = _identity(name, str(texts[name]))
            found = _identity(name, file.read_text("utf-8", "replace"))
            for key in stored.keys() & found.keys():
                if stored[key] != found[key]:
                    raise ValueError(
                        f"{file} says {key}={found[key]}, but {prefix} was "
                        f"trained with {key}={stored[key]}. Restore the file, "
                        "or use the checkpoint that belongs to it"
                    )


def _identity(name: str, text: str) -> dict[str, Any]:
    """Returns {key: value} from a file that describes the weights beside it.

    The labels' key contains the sorted labels, and their value is the list of
    labels. So the same labels in another order differ in the value. Renamed
    labels differ in the key, so they are not compared. Returns {} for a
    malformed file, which `model_folder.read` reports.
    """
    values: dict[str, Any] = {}
    with contextlib.suppress(
        AttributeError, LookupError, TypeError, ValueError
    ):
        if name == LABELS_FILE:
            settings: dict[str, Any] = {"labels": text.splitlines()}
        else:
            settings = parse_json(text.encode(), name)["origin"]["settings"]
        for key in _IDENTITY & settings.keys():
            value = settings[key]
            if isinstance(value, list):
                key = f"the order of {sorted(value)}"
            inner = value if isinstance(value, dict) else {"": value}
            values |= {f"{key}.{k}".rstrip("."): v for k, v in inner.items()}
    return values


def _mend(path: Path, text: bytes) -> None:
    found = path.read_bytes()
    left = found.rstrip(b"\0")
    if path.name == history.FILE:
        if any(_is_same_checkpoint(line, text) for line in left.splitlines()):
            return
        # A killed run may have left half a line at the end. Drop it, and append
        # the line of the checkpoint from which the run resumes.
        text = left[: left.rfind(b"\n") + 1] + text
    elif found == text or not text.startswith(left):
        return
    write_bytes(path, text)
    logging.warning(
        "%s was cut off, perhaps by a power cut. The part that the run needs "
        "was restored from the checkpoint beside the file.",
        path,
    )


def _is_same_checkpoint(line: bytes, expected: bytes) -> bool:
    """Returns whether `line` is complete and of the same step as `expected`.

    Other entries may differ, because the user may have changed the line.
    """
    try:
        return line.startswith(_CHECKPOINT_LINE) and (
            parse_json(line, "the line")["step"]
            == parse_json(expected, "the checkpoint's")["step"]
        )
    except (ValueError, KeyError):
        return False


def _read(folder: Path) -> dict[str, str]:
    """Returns {file: text}, as stored in the newest readable checkpoint."""
    for step in reversed(checkpoint_steps(folder)):
        path = folder / f"{PREFIX}-{step}"
        with contextlib.suppress(OSError, ValueError):
            if texts := _read_texts(path):
                return texts
    return {}


def _read_texts(path: str | os.PathLike[str]) -> dict[str, str]:
    """Returns {file: text}, as stored in a checkpoint, or {}."""
    with tf1.open_tf1_checkpoint(path) as (reader, _):
        if not reader.has_tensor(tf1.RUN_STATE):
            return {}
        text = reader.get_tensor(tf1.RUN_STATE)
        return parse_json(text, f"{path}: {tf1.RUN_STATE}")
