"""Chooses the rule that splits --data_file, by the rules of earlier runs."""

import dataclasses
import os
from typing import NamedTuple

from data.sets.text_keys import RULE_VERSION
from model_folders.model_json import MODEL_JSON_FILE, provenance_of
from model_folders.reading.preset import Preset
from model_folders.training_settings import DEV_SET_RULE_ENTRY, DevSetRuleEntry
from training.config.fine_tuning_config import DataFileConfig
from training.dev_set.set_fingerprints import TRAIN_SET, set_fingerprints_of


@dataclasses.dataclass(frozen=True)
class DevSetRule:
    """The rule by which a run splits a table into a train set and a dev set.

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
    entry = preset.training_settings.inputs.get(DEV_SET_RULE_ENTRY)
    if not entry:
        return None
    names = DevSetRuleEntry.__annotations__
    if missing := [name for name in names if name not in entry]:
        file = os.path.join(preset.folder, MODEL_JSON_FILE)
        raise ValueError(
            f"{file}: `{DEV_SET_RULE_ENTRY}` lacks `{missing[0]}`; copy the "
            "file again"
        )
    return DevSetRule(
        version=int(entry["rule"]),
        dev_fraction=float(entry["dev_fraction"]),
        key=tuple(map(str, entry["key"])),
        clean_fraction=float(entry["clean_fraction"]),
    )


class DevSetRuleChoice(NamedTuple):
    """The chosen rule of a dev set, and a reason to doubt the scores on it.

    Attributes:
        rule: which rows of --data_file are the dev set.
        doubt: why the weights may have been trained on rows of the dev set, ""
            if they were not. Then `rule.is_doubtful` is False.
    """

    rule: DevSetRule
    doubt: str


def choose_dev_set_rule(
    preset: Preset | None, config: DataFileConfig, key: tuple[str, ...]
) -> DevSetRuleChoice:
    """Chooses which rows of --data_file are the dev set.

    Args:
        preset: Preset of the weights, None if they are random.
        config: the flags, with the fraction of the rows in the dev set.
        key: names of the columns by which rows are assigned to a set.
    """
    clean_fraction = fraction = config.data_file_options.dev_fraction
    doubt = ""
    if preset and (overlap := _find_overlap(preset, config, key)):
        clean_fraction, doubt = overlap
    rule = DevSetRule(RULE_VERSION, fraction, key, clean_fraction)
    return DevSetRuleChoice(rule, doubt)


def choose_dev_set_rule_to_record(
    dev_set_rule: DevSetRule | None, preset: Preset | None
) -> DevSetRule | None:
    """Returns the rule for model.json, None if no run used a rule.

    A run on sets of --data_dir records the rule of the run that it starts from.

    Args:
        dev_set_rule: rule of the command, None without --data_file.
        preset: Preset of the weights, None if they are random.
    """
    if dev_set_rule is None and preset:
        return dev_set_rule_of(preset)
    return dev_set_rule


class _Overlap(NamedTuple):
    """An overlap of a dev set with the rows that may have trained the weights.

    Attributes:
        clean_fraction: the largest --dev_fraction whose dev set contains none
            of these rows, 0.0 if every dev set may contain some.
        doubt: why the scores cannot be trusted, for the log.
    """

    clean_fraction: float
    doubt: str


def _find_overlap(
    preset: Preset, config: DataFileConfig, key: tuple[str, ...]
) -> _Overlap | None:
    """Finds an overlap of the dev set with rows that trained the weights.

    Every row has a fixed number from 0 to 1, and the dev set is the rows whose
    number is below --dev_fraction. So a run with --dev_fraction=0.1 was trained
    on all rows from 0.1 on: on no row of the dev set of 0.1, but on half of the
    dev set of 0.2. For a command with --dev_fraction=0.2:

        run of the weights                        clean_fraction of the result
        0.2, or 0.3                               (None)
        0.1                                       0.1
        0.3, started from a run with 0.1          0.1
        0.3, started from sets of --data_dir      0.0
        0.3, of other columns                     0.0
        sets of --data_dir                        0.0
        sets of --data_dir, after a run with 0.3  0.0
        another task                              (None)

    Returns None if the weights were trained on no row of the dev set.
    """
    source = preset.source
    other_way = "chose its dev set in another way"
    if _may_have_trained_on_any_row(preset, config):
        return _Overlap(0.0, f"{source} {other_way}")
    recorded = dev_set_rule_of(preset)
    fraction = config.data_file_options.dev_fraction
    if recorded is None:
        return None
    if recorded.key != key:
        return _Overlap(
            0.0,
            f"{source} chose its dev set by {_join_names(recorded.key)}, and "
            f"this command chooses by {_join_names(key)}",
        )
    clean = recorded.clean_fraction
    if fraction <= clean:
        return None
    if not clean:
        return _Overlap(0.0, f"a start of {source} {other_way}")
    if clean < recorded.dev_fraction:
        source = f"a start of {source}"
    return _Overlap(
        clean,
        f"{source} was trained with --dev_fraction={clean:g}, and this dev set "
        f"is of --dev_fraction={fraction:g}",
    )


def _may_have_trained_on_any_row(
    preset: Preset, config: DataFileConfig
) -> bool:
    """Returns whether a run may have trained on any rows of the table.

    Such a run chose its sets by another version of the rule. Or the run is of
    the same task, and read sets of --data_dir, whose rows may be from the
    table. If such a run recorded a rule, the rule is that of an earlier run,
    whose weights it started from.
    """
    recorded = dev_set_rule_of(preset)
    if recorded is not None and recorded.version != RULE_VERSION:
        return True
    has_rule = recorded is not None and has_data_file(preset)
    return _is_trained_on_task(preset, config) and not has_rule


def _join_names(names: tuple[str, ...]) -> str:
    return " and ".join(map(repr, names))


def _is_trained_on_task(preset: Preset, config: DataFileConfig) -> bool:
    """Returns whether a run was trained for the task that a command names."""
    return (
        TRAIN_SET in set_fingerprints_of(preset)
        and preset.model_class == config.model_class
        and preset.training_settings.head.get("task_name")
        == config.selected_task_name
    )


def has_data_file(preset: Preset) -> bool:
    """Returns whether the last command of a run read a --data_file."""
    provenance = provenance_of(preset.model_json)
    return "data_file" in provenance.get("command", {})
