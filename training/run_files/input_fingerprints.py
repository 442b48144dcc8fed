"""Creates the fingerprints of a training's input files, for model.json."""

import os
from collections.abc import Iterable

import modeling
from data.io import text_files
from data.io.file_checksums import compute_crc32
from model_folders.fingerprints import FileFingerprint
from model_folders.reading.config_files import list_files_beside
from model_folders.reading.preset import PathOrPreset


def fingerprint_checkpoint(
    path_or_preset: PathOrPreset,
) -> list[FileFingerprint]:
    """Returns the fingerprints of the files of a checkpoint.

    Args:
        path_or_preset: the checkpoint, or a folder, whose newest is taken.

    Raises:
        OSError: the path contains no checkpoint.
    """
    file = modeling.find_checkpoint(path_or_preset)
    if not os.path.isfile(file):
        # The index of a TF1 checkpoint contains the checksum of each variable.
        file = f"{file}.index"
    return fingerprint_files([file, *list_files_beside(file)])


def fingerprint_files(files: Iterable[str]) -> list[FileFingerprint]:
    """Returns the fingerprint of each file.

    Raises:
        OSError: a file cannot be read.
    """
    return [
        FileFingerprint(
            os.path.basename(file),
            text_files.file_size(file),
            compute_crc32(file),
        )
        for file in files
    ]
