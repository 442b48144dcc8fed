"""Fingerprints of a run's files, to detect changed inputs."""

import os
import zlib
from collections.abc import Iterable

import tensorflow as tf

import modeling
from training import model_folder


def are_evaluated(
    output_dir: str | os.PathLike[str], files: Iterable[str]
) -> bool:
    """Returns whether a run was evaluated on these files, or on none yet."""
    found = fingerprint(files)
    saved = model_folder.read_run(output_dir).settings
    return saved.get("eval_input_file", found) == found


def fingerprint(files: Iterable[str], whole: bool = False) -> list[list]:
    """Returns [name, bytes, checksum] of files, to detect changed inputs.

    Args:
        files: paths.
        whole: whether to checksum all bytes; else only the first and last 64
            KiB, whatever the file's size.
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


def checkpoint_fingerprint(path: str) -> list[list]:
    """Returns the fingerprint of the files of the checkpoint at a path.

    Raises:
        OSError: there is no checkpoint.
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
