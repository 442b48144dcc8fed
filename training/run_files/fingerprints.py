"""Identifies files by their names, sizes and checksums, to notice changes.

model.json records these fingerprints of the inputs of a training.
"""

import os
import zlib
from collections.abc import Iterable

import tensorflow as tf

import modeling
from model_folders.fingerprints import FileFingerprint
from model_folders.reading.config_files import list_files_beside
from model_folders.reading.preset import PathOrPreset


def fingerprint_checkpoint(
    path_or_preset: PathOrPreset,
) -> list[FileFingerprint]:
    """Returns the fingerprint of a checkpoint, or of the newest in a folder.

    Raises:
        OSError: the path contains no checkpoint.
    """
    file = modeling.find_checkpoint(path_or_preset)
    if not os.path.isfile(file):
        # The index of a TF1 checkpoint contains the checksum of each variable.
        file = f"{file}.index"
    return fingerprint_files([file, *list_files_beside(file)])


def fingerprint_files(files: Iterable[str]) -> list[FileFingerprint]:
    """Returns the fingerprint of each file, to find changed inputs."""
    return [
        FileFingerprint(os.path.basename(file), *size_and_checksum(file))
        for file in files
    ]


def size_and_checksum(file: str) -> tuple[int, int]:
    """Returns the number of bytes of a file, and their checksum."""
    size = checksum = 0
    with tf.io.gfile.GFile(file, "rb") as reader:
        while chunk := reader.read(1 << 24):
            size += len(chunk)
            checksum = zlib.crc32(chunk, checksum)
    return size, checksum
