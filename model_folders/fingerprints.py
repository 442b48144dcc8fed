"""Defines the fingerprints of files: what model.json records of an input file.

By its fingerprint, a resumed run notices that a file has changed since the run
began. training/dev_set/set_fingerprints.py defines the
fingerprints of sets.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias


class FileFingerprint(NamedTuple):
    """Identifies a file by its name and its contents.

    Attributes:
        name: file name, without its folder.
        num_bytes: size of the file.
        checksum: CRC-32 of the file.
    """

    name: str
    num_bytes: int
    checksum: int


class RecordFileFingerprint(NamedTuple):
    """Identifies a file of pretraining records by its name and its contents.

    Attributes:
        name: file name, without its folder.
        num_bytes: size of the file.
        checksum: CRC-32C of the file, in hexadecimal.
        first_checksum: checksum of the first record, "" in an empty file.
        last_checksum: checksum of the last record, "" in an empty file.
    """

    name: str
    num_bytes: int
    checksum: str
    first_checksum: str
    last_checksum: str


# A fingerprint as model.json contains it: a list of the values.
FingerprintEntry: TypeAlias = Sequence[str | int]
