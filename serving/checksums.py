"""Checksums of the files of an export's networks, which model.json records.

A network of another export may load in this folder, and answer wrong.
"""

import zlib
from collections.abc import Iterable
from pathlib import Path

from modeling.folders import model_json
from modeling.folders.model_entries import ModelJson
from serving import engines


def of_networks(folder: Path, formats: Iterable[str]) -> dict[str, str]:
    """Returns {file: checksum} of an export's networks.

    Args:
        folder: folder of the export.
        formats: keys of engines.RUNTIMES.
    """
    return {
        file.relative_to(folder).as_posix(): _checksum(file)
        for name in formats
        for file in _files_of(folder, name)
    }


def check(folder: Path, name: str, described: ModelJson) -> None:
    """Checks that a network is the one that its export wrote.

    Args:
        folder: folder of the export.
        name: format of the network, a key of engines.RUNTIMES.
        described: contents of the export's model.json. Without checksums, as
            in exports of earlier versions, there is nothing to check.

    Raises:
        OSError: a file is another one. The message names the file.
    """
    recorded = described.get(model_json.CHECKSUMS)
    if not recorded:
        return
    for file, checksum in of_networks(folder, [name]).items():
        if recorded.get(file) != checksum:
            raise OSError(
                f"{folder / file} is not the file that was exported to this "
                "folder, so its answers may be wrong. Export or copy the whole "
                f"folder again, or remove `{model_json.CHECKSUMS}` from "
                f"{model_json.FILE} if you changed the file on purpose"
            )


def _files_of(folder: Path, name: str) -> list[Path]:
    files = [folder / engines.RUNTIMES[name].file]
    if name == "saved_model":
        # The weights of a SavedModel.
        files += sorted((folder / "variables").glob("variables.*"))
    return files


def _checksum(file: Path) -> str:
    # CRC takes 0.3 s for 400 MB, a small part of the time to load them.
    checksum = 0
    with file.open("rb") as opened:
        while block := opened.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return f"{checksum:08x}"
