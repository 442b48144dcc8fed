"""Defines the fingerprints of files: what model.json records of an input file.

They tell the file from others with the same name, so that a resumed run reads
the files with which it began. training/dev_set/set_fingerprints.py defines the
fingerprints of sets.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias


class FileFingerprint(NamedTuple):
    """Tells a file from other files with the same name.

    Attributes:
        name: file name, without its folder.
        num_bytes: size of the file.
        checksum: CRC-32 of the file.
    """

    name: str
    num_bytes: int
    checksum: int


class RecordFileFingerprint(NamedTuple):
    """Tells a file of pretraining records from others with the same name.

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
