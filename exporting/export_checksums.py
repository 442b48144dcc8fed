"""Checksums of the files of an export.

model.json records the checksums of the networks, because a network of another
export may load in this folder, and return wrong replies. Jobs and pickled
models record the checksums of all files that determine the replies.
"""

import functools
import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path

from data.io.file_checksums import (
    SizeAndChecksum,
    compute_crc32,
    compute_size_and_checksum,
)
from data.parallel_jobs.job_files import InputEntry
from exporting.export_formats import FILE_OF_FORMAT, ExportFormat
from model_folders import model_json
from model_folders.model_json import ModelJson


def checksums_of_networks(
    folder: Path, formats: Iterable[ExportFormat]
) -> dict[str, str]:
    """Returns {file: checksum} of an export's networks.

    Reading 400 MB takes 0.3 s, a small fraction of the time to load the
    network.

    Args:
        folder: folder of the export.
        formats: formats of the networks.
    """
    return {
        file.relative_to(folder).as_posix(): f"{compute_crc32(file):08x}"
        for export_format in formats
        for file in _network_files(folder, export_format)
    }


def list_file_checksums(
    folder: Path, export_format: ExportFormat
) -> list[InputEntry]:
    """Returns {"path", "bytes", "crc32c"} of the files that determine replies.

    These are the network, model.json, the vocabulary and the labels.

    Args:
        folder: folder of the export.
        export_format: format of the network.
    """
    network = FILE_OF_FORMAT[export_format]
    patterns = ["*.json", "*.txt", f"{network}*", "variables/*"]
    patterns += [f"assets.extra/{pattern}" for pattern in patterns[:2]]
    files = {path for pattern in patterns for path in folder.glob(pattern)}
    return [
        {
            "path": str(path.relative_to(folder)),
            **_compute_size_and_checksum(path),
        }
        for path in sorted(filter(Path.is_file, files))
    ]


def compute_export_checksum(folder: Path, export_format: ExportFormat) -> str:
    """Returns one checksum of the files that `list_file_checksums` lists."""
    text = json.dumps(
        list_file_checksums(folder, export_format), sort_keys=True
    )
    return f"{zlib.crc32(text.encode()):08x}"


def check_network_files(
    folder: Path, export_format: ExportFormat, contents: ModelJson
) -> None:
    """Checks that a network is the one that its export wrote.

    Args:
        folder: folder of the export.
        export_format: format of the network.
        contents: contents of the export's model.json. Without checksums, as
            in exports of earlier versions, there is nothing to check.

    Raises:
        OSError: a file is not the file that the export wrote. The message names
            the file.
    """
    recorded = contents.get(model_json.CHECKSUMS)
    if not recorded:
        return
    for file, checksum in checksums_of_networks(
        folder, [export_format]
    ).items():
        if recorded.get(file) != checksum:
            raise OSError(
                f"{folder / file} is not the file that was exported to this "
                "folder, so its answers may be wrong. Export or copy the whole "
                f"folder again, or remove `{model_json.CHECKSUMS}` from "
                f"{model_json.MODEL_JSON_FILE} if you changed the file on "
                "purpose"
            )


def _network_files(folder: Path, export_format: ExportFormat) -> list[Path]:
    files = [folder / FILE_OF_FORMAT[export_format]]
    if export_format == "saved_model":
        # The weights of a SavedModel.
        files += sorted((folder / "variables").glob("variables.*"))
    return files


def _compute_size_and_checksum(path: Path) -> SizeAndChecksum:
    """Returns the size and the checksum of a file.

    A job calls this function for each of its units, so it reads a file again
    only if the file's status has changed. The status includes the time of the
    last change, because a copy may keep the modification time of another file.
    """
    status = os.stat(path)
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return _compute_size_and_checksum_once(
        path, (status.st_ino, status.st_size, *times)
    )


@functools.lru_cache(maxsize=64)
def _compute_size_and_checksum_once(
    path: Path, _: tuple[int, ...]
) -> SizeAndChecksum:
    return compute_size_and_checksum(path)
