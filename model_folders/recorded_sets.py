"""Reads what model.json records of the sets that a run read."""

import dataclasses
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from files.paths import StrPath
from model_folders.model_json_types import (
    DevSetRuleEntry,
    ModelJson,
    Provenance,
    TrainingSettings,
)

# Entries of the settings in model.json. Their keys stay as they are, because
# the folders of earlier runs contain them. "data" is a list for each
# `RecordedSet`, and "split" is not a set but the `DevSetRule`.
RECORDED_SETS: Final = "data"
DEV_SET_RULE: Final = "split"
# Names of recorded sets, which are those of the files of a run. There, Google's
# code calls the dev set "eval".
TRAIN_SET: Final = "train"
DEV_SET: Final = "eval"


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


@dataclasses.dataclass(frozen=True)
class DevSetRule:
    """Which rows of tables a run and its starts were not trained on.

    Attributes:
        rule: version of the rule (data/sets/row_keys.py).
        dev_fraction: fraction of the rows in the dev set.
        key: names of the values that decide in which set a row is: the columns
            of its texts, "words" or "document".
        clean_fraction: the smallest dev_fraction of the run and of the runs
            that it started from. None of these runs was trained on a row whose
            place is below this fraction. 0 if one of these runs chose its sets
            in another way.
    """

    rule: int
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
            "rule": self.rule,
            "dev_fraction": self.dev_fraction,
            "key": [*self.key],
            "clean_fraction": self.clean_fraction,
        }


def parse_dev_set_rule(contents: ModelJson, file: StrPath) -> DevSetRule | None:
    """Returns the rule of a run, None if no run chose the sets of its tables.

    Args:
        contents: entries of model.json, whose types are checked.
        file: path of the file, for messages.

    Raises:
        ValueError: the entry is incomplete.
    """
    provenance = contents.get("origin", Provenance())
    settings = provenance.get("settings", TrainingSettings())
    entry = settings.get(DEV_SET_RULE)
    if not entry:
        return None
    names = [field.name for field in dataclasses.fields(DevSetRule)]
    if missing := [name for name in names if name not in entry]:
        raise ValueError(
            f"{file}: `{DEV_SET_RULE}` lacks `{missing[0]}`; copy the file "
            "again"
        )
    return DevSetRule(
        rule=int(entry["rule"]),
        dev_fraction=float(entry["dev_fraction"]),
        key=tuple(map(str, entry["key"])),
        clean_fraction=float(entry["clean_fraction"]),
    )
