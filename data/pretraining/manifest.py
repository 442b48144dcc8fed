"""Reads and checks the JSON files that describe how shards were created.

OUTPUT.manifest.json describes finished work: the flags, and the sizes and
checksums of inputs and shards. OUTPUT.work/job.json describes unfinished work:
only the flags and the inputs.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from data.io.records import measure_file
from files.json_files import read_json

# Increase this number if the same flags and inputs result in other records.
VERSION = 3


def describe(
    flags: Mapping[str, Any], input_files: Sequence[str]
) -> dict[str, Any]:
    """Returns the entries of a manifest that describe flags and inputs."""
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
    """Returns the manifest's entries that describe shards.

    `num_records` records were written to the shards in turn.
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
    """Returns whether a file still has the recorded size and checksum."""
    # Compare the size first, because the checksum requires reading the file.
    return (
        isinstance(entry, dict)
        and os.path.isfile(path)
        and os.path.getsize(path) == entry.get("bytes")
        and measure_file(path)["crc32c"] == entry.get("crc32c")
    )


def read(
    path: str, fields: Mapping[str, type], description: dict[str, Any]
) -> dict[str, Any] | None:
    """Returns a manifest or job.json, or None if the file does not exist.

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
                f"{path} was not written by this script: {name!r} of type "
                f"{kind.__name__} is missing"
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
