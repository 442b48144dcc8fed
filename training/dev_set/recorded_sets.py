"""What model.json records of the sets that a run read, and of their rule."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from data.sets.set_names import file_stem_of
from model_folders.model_json import MODEL_JSON_FILE, provenance_of
from model_folders.model_json_types import DevSetRuleEntry
from model_folders.reading.presets import Preset

# Entries of the settings in model.json. Their keys stay as they are, because
# the folders of earlier runs contain them. "data" is a list for each
# `RecordedSet`, and "split" is not a set but the `DevSetRule`.
RECORDED_SETS: Final = "data"
DEV_SET_RULE: Final = "split"
# Names of the recorded sets "train" and "dev". model.json names a set as the
# files of a run do, and Google's code calls the file of the dev set "eval".
TRAIN_SET: Final = file_stem_of("train")
DEV_SET: Final = file_stem_of("dev")


class RecordedSet(NamedTuple):
    """A set of examples that a run read, an entry of `data` in model.json.

    Attributes:
        name: name of the set: TRAIN_SET, DEV_SET, or that of another set.
        file: name of the file, or of the folder and the set.
        num_rows: number of examples.
        checksum: checksum of the file, or of the records.
    """

    name: str
    file: str
    num_rows: int
    checksum: int

    def has_rows_of(self, other: "RecordedSet | None") -> bool:
        """Returns whether two sets contain the same rows, in any files."""
        return other is not None and self[2:] == other[2:]


# {name in model.json: the set}.
RecordedSets: TypeAlias = Mapping[str, RecordedSet]


def recorded_sets_of(preset: Preset) -> RecordedSets:
    """Returns {name of a set that a run read: its RecordedSet}."""
    entries = preset.recorded_settings.get(RECORDED_SETS, ())
    return {
        entry[0]: RecordedSet(*entry)
        for entry in entries
        if len(entry) == len(RecordedSet._fields)
    }


def has_data_file(preset: Preset) -> bool:
    """Returns whether the last command of a run read a --data_file."""
    provenance = provenance_of(preset.model_json)
    return "data_file" in provenance.get("command", {})


@dataclasses.dataclass(frozen=True)
class DevSetRule:
    """Which rows of tables a run and its starts were not trained on.

    Attributes:
        version: version of the rule, `RULE_VERSION` of the program that wrote
            model.json. The entry there is "rule".
        dev_fraction: fraction of the rows in the dev set.
        key: names of the values that decide in which set a row is: the columns
            of its texts, "words" or "document".
        clean_fraction: the smallest dev_fraction of the run and of the runs
            that it started from. None of these runs was trained on a row whose
            place is below this fraction. 0 if one of these runs chose its sets
            in another way.
    """

    version: int
    dev_fraction: float
    key: tuple[str, ...]
    clean_fraction: float

    @property
    def is_doubtful(self) -> bool:
        """Whether the weights may have been trained on rows of the dev set."""
        return self.clean_fraction < self.dev_fraction

    def to_entry(self) -> DevSetRuleEntry:
        """Returns the entry of model.json."""
        return {
            "rule": self.version,
            "dev_fraction": self.dev_fraction,
            "key": [*self.key],
            "clean_fraction": self.clean_fraction,
        }


def dev_set_rule_of(preset: Preset) -> DevSetRule | None:
    """Returns the rule of a run, None if no run chose the sets of its tables.

    Raises:
        ValueError: the entry of model.json is incomplete.
    """
    entry = preset.recorded_settings.get(DEV_SET_RULE)
    if not entry:
        return None
    names = DevSetRuleEntry.__annotations__
    if missing := [name for name in names if name not in entry]:
        file = os.path.join(preset.path, MODEL_JSON_FILE)
        raise ValueError(
            f"{file}: `{DEV_SET_RULE}` lacks `{missing[0]}`; copy the file "
            "again"
        )
    return DevSetRule(
        version=int(entry["rule"]),
        dev_fraction=float(entry["dev_fraction"]),
        key=tuple(map(str, entry["key"])),
        clean_fraction=float(entry["clean_fraction"]),
    )
