"""Identifies runs by their settings, and files by their checksums."""

import contextlib
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import google_crc32c
import tensorflow as tf
from absl import logging

import modeling
from data.io import records
from files import json_files
from files.atomic import write_json
from files.paths import is_remote
from modeling import presets
from training.run_folder import MAY_BE_MISSING

# Name of the file that stores the inputs' checksums, so that a resumed run does
# not have to read the inputs again to compute them.
FILE = "input_checksums.json"


class Inputs:
    """Computes the checksums of a run's records, and stores them in its folder.

    If a manifest of `create_pretraining_data.py` contains a file's checksum,
    the file is not read. Otherwise it is read once, and a resumed run reads it
    again only if it changed.

    Args:
        output_dir: folder of the run.
    """

    def __init__(self, output_dir: str | os.PathLike[str]) -> None:
        self._output_dir = Path(output_dir)
        # {(name, size in bytes, time of the last change): crc32c} of files
        self._known: dict[tuple, str] = {}
        # If FILE is damaged, ignore it, and compute its checksums again.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            entries = json_files.read_json(self._output_dir / FILE)["files"]
            self._known = {tuple(key): checksum for *key, checksum in entries}
        self._num_saved = len(self._known)

    def identify(self, files: Sequence[str]) -> list[list]:
        """Returns [name, bytes, crc32c] of each file.

        Args:
            files: paths, local or remote.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file is truncated or does not contain records.
        """
        written: dict[tuple[str, int], tuple[str, int]] = {}
        for folder in {os.path.dirname(file) for file in files}:
            written |= dict(_read_manifests(folder))
        found = []
        for file in files:
            size, changed = tf.io.gfile.stat(file).length, _changed_at(file)
            key = os.path.basename(file), size, changed
            checksum, time = written.get(key[:2], (None, 0))
            if checksum is None or changed > time:
                if key not in self._known:
                    logging.info("Reading %s for its checksum", file)
                    crc32c = google_crc32c.Checksum()
                    # Check the records in the same pass, because TensorFlow
                    # crashes if a record is shorter than its header says.
                    for record in records.read_records(file):
                        crc32c.update(records.frame(record))
                    self._known[key] = crc32c.hexdigest().decode()
                checksum = self._known[key]
            found.append([*key[:2], checksum])
        return found

    def are_evaluated(self, files: Sequence[str]) -> bool:
        """Returns whether the run's training evaluated exactly these files.

        Also returns True if training ran no evaluations.
        """
        saved = presets.read(self._output_dir).training
        recorded = saved.get("eval_input_file")
        return recorded is None or recorded == self.identify(files)

    def save(self) -> None:
        """Writes the checksums to FILE, if any checksum is new."""
        if len(self._known) > self._num_saved:
            entries = [[*key, value] for key, value in self._known.items()]
            write_json(self._output_dir / FILE, {"files": entries})


def _read_manifests(
    folder: str,
) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    """Yields ((name, size), (crc32c, time)) of each shard in the manifests.

    `size` is in bytes. `time` is when the manifest was written, in ns.
    """
    for name in tf.io.gfile.listdir(folder or "."):
        if not name.endswith(".manifest.json"):
            continue
        path = os.path.join(folder, name)
        # Skip files of other programs, which may have the same extension.
        with contextlib.suppress(
            *(ValueError, KeyError, TypeError, AttributeError),
            tf.errors.OpError,
        ):
            with tf.io.gfile.GFile(path, "rb") as reader:
                contents = json_files.parse_json(reader.read(), path)
            for shard in (
                *contents["shards"],
                *contents.get("eval_shards", ()),
            ):
                key = os.path.basename(shard["path"]), shard["bytes"]
                yield key, (str(shard["crc32c"]), _changed_at(path))


def _changed_at(path: str) -> int:
    """Returns the time in ns at which a file was last written or copied."""
    # For a local file, use ctime, which changes with every copy. TensorFlow's
    # mtime is in whole seconds there, and a copy may keep the original's mtime.
    if is_remote(path):
        return tf.io.gfile.stat(path).mtime_nsec
    return os.stat(path).st_ctime_ns


def fingerprint(files: Iterable[str], whole: bool = False) -> list[list]:
    """Returns [name, bytes, checksum] of each file, to detect changed inputs.

    Args:
        files: paths.
        whole: True to checksum all bytes, False to checksum only the first and
            last 64 KiB.
    """
    found = []
    for file in files:
        size, checksum = tf.io.gfile.stat(file).length, 0
        with tf.io.gfile.GFile(file, "rb") as reader:
            if whole:
                while chunk := reader.read(1 << 24):
                    checksum = zlib.crc32(chunk, checksum)
            else:
                checksum = zlib.crc32(reader.read(1 << 16))
                reader.seek(max(size - (1 << 16), 0))
                checksum = zlib.crc32(reader.read(), checksum)
        found.append([os.path.basename(file), size, checksum])
    return found


def checksums(files: Iterable[str]) -> list[int]:
    """Returns the checksum of each complete file."""
    return [checksum for *_, checksum in fingerprint(files, whole=True)]


def fingerprint_checkpoint(path: str) -> list[list]:
    """Returns the fingerprint of a checkpoint's files.

    Args:
        path: a checkpoint, or a folder that contains one.

    Raises:
        OSError: the path contains no checkpoint.
    """
    found = modeling.find_checkpoint(path)
    if os.path.isfile(found):
        return fingerprint([found], whole=True)
    folder, name = os.path.split(found)
    files = [
        os.path.join(folder, file)
        for file in sorted(tf.io.gfile.listdir(folder or "."))
        if file == f"{name}.index" or file.startswith(f"{name}.data-")
    ]
    return fingerprint(files, whole=True)


def fingerprint_of(
    settings: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, str]:
    """Returns {"run", "dev_set": checksum} of a run and its data.

    Args:
        settings: settings that must not change when a run is resumed
            (run_folder.py).
        data: {"dev_set": JSON-serializable description}, or {}.
    """
    names = settings.keys() - MAY_BE_MISSING
    run = {name: settings[name] for name in names}
    return {
        part: hashlib.sha256(
            json.dumps(value, sort_keys=True).encode()
        ).hexdigest()[:16]
        for part, value in {"run": run, **data}.items()
    }
