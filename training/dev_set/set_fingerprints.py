"""Identifies the sets that a run read, as model.json records them.

A later command compares its own sets with them.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from data.sets.set_names import file_stem_of
from model_folders.reading.preset import Preset
from model_folders.training_settings import SETS_ENTRY

# Names of the sets "train" and "dev". model.json names a set as the
# files of a run do, and Google's code calls the file of the dev set "eval".
TRAIN_SET: Final = file_stem_of("train")
DEV_SET: Final = file_stem_of("dev")


class SetFingerprint(NamedTuple):
    """Identifies a set that a run read. It is an entry of `data` in model.json.

    Attributes:
        name: TRAIN_SET, DEV_SET, or the name of another set.
        file: name of the file, or of the folder and the set.
        num_rows: number of examples.
        checksum: checksum of the file, or of the records.
    """

    name: str
    file: str
    num_rows: int
    checksum: int

    def has_rows_of(self, other: "SetFingerprint | None") -> bool:
        """Returns whether two sets contain the same rows, in any files."""
        if other is None:
            return False
        is_as_long = self.num_rows == other.num_rows
        return is_as_long and self.checksum == other.checksum


# {name in model.json: the set}.
SetFingerprints: TypeAlias = Mapping[str, SetFingerprint]


def set_fingerprints_of(preset: Preset) -> SetFingerprints:
    """Returns {name of a set that a run read: its SetFingerprint}."""
    entries = preset.training_settings.inputs.get(SETS_ENTRY, ())
    return {
        entry[0]: SetFingerprint(*entry)
        for entry in entries
        if len(entry) == len(SetFingerprint._fields)
    }
