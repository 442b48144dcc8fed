"""Reads and checks the JSON files that describe how records were created.

OUTPUT.manifest.json describes finished work: the flags, and the sizes and
checksums of inputs and shards. OUTPUT.work/job.json describes unfinished work:
only the flags and the inputs.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from data.io.records import measure_file
from files.json_files import read_json

# Increase this number when a change of the code changes the records.
VERSION = 3


def describe(
    flags: Mapping[str, Any], input_files: Sequence[str]
) -> dict[str, Any]:
    """Returns VERSION and a command's flags and inputs, for a manifest.

    The entry of an input contains its path, size and checksum.
    """
    return {
        "version": VERSION,
        "flags": flags,
        "inputs": [
            {"path": path, **measure_file(path)} for path in input_files
        ],
    }


def describe_shards(
    paths: Sequence[str], num_records: int
) -> list[dict[str, Any]]:
    """Returns the path, number of records, size and checksum of each shard.

    `num_records` is the number of records in all shards. Record i is in the
    shard i % len(paths).
    """
    return [
        {
            "path": path,
            "num_records": len(range(number, num_records, len(paths))),
            **measure_file(path),
        }
        for number, path in enumerate(paths)
    ]


def is_whole(path: str, entry: Any) -> bool:
    """Returns whether a file's size and checksum still match its entry.

    `entry` is the file's entry in a manifest.
    """
    # Compare the size first, because the checksum needs the whole file.
    return (
        isinstance(entry, dict)
        and os.path.isfile(path)
        and os.path.getsize(path) == entry.get("bytes")
        and measure_file(path)["crc32c"] == entry.get("crc32c")
    )


def read(
    path: str, fields: Mapping[str, type], description: dict[str, Any]
) -> dict[str, Any] | None:
    """Reads a manifest or job.json. Returns None if the file does not exist.

    Args:
        path: path of the file.
        fields: {name: type} of required fields, in addition to `flags` and
            `inputs`.
        description: flags and inputs of this command, from `describe`.

    Raises:
        ValueError: the file records other flags or inputs, or is not a
            manifest.
    """
    try:
        contents = read_json(path)
    except FileNotFoundError:
        return None
    for name, kind in {"flags": dict, "inputs": list, **fields}.items():
        if not isinstance(contents.get(name), kind):
            raise ValueError(
                f"{path} was not written by this script: it contains no "
                f"field {name!r} of type {kind.__name__}"
            )
    flags, inputs = contents["flags"], contents["inputs"]
    changed = [
        f"--{name}={flags.get(name)}"
        for name, value in description["flags"].items()
        if flags.get(name) != value
    ]
    if not changed and inputs != description["inputs"]:
        changed = [
            f"another {entry['path']}"
            for entry in description["inputs"]
            if entry not in inputs
        ] or ["more input files"]
    if changed:
        raise ValueError(f"{path} records work done with {', '.join(changed)}")
    return contents
