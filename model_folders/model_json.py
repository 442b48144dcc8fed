"""Reads model.json, what programs know of weights, and defines its types.

This project writes the file beside weights. For people, model_card.py writes
the README.md there, and training/run_files/model_description.py decides what
the model.json of a run contains.

The entries are plain dicts, so that they can be written as JSON again. Each
entry may be missing:

    HeadSettings: how the outputs of a head are read
    TrainingInputs: what a training reads
    Provenance: the run that trained the weights, with its settings

`TrainingSettings` is not an entry, but an object with two of them: all that a
resumed run must keep are the HeadSettings that its task has fixed, and the
TrainingInputs. The file contains both as one object.

Some keys of the file are other words than the code uses. Only this module knows
them.

Where a command is compared with model.json, what the file contains is
"recorded", and what the command would write is "current".

This module imports neither Keras nor TensorFlow.
"""

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Final,
    Self,
    TypedDict,
    cast,
    get_type_hints,
    is_typeddict,
)

from files.json_files import read_json
from files.paths import StrPath
from files.typed_dict_checks import find_malformed_entry
from model_folders.fingerprints import FingerprintEntry
from model_folders.head_settings import HeadSettings, TaskEntry

MODEL_JSON_FILE = "model.json"
# Key of the entry with the checksums of an export's networks.
CHECKSUMS: Final = "checksums"
# Keys of `TrainingInputs` that are other words than the code uses: of the
# `SetFingerprint` of each set, and of the `DevSetRule`. They stay as they are,
# because the folders of earlier runs contain them.
SETS_ENTRY: Final = "data"
DEV_SET_RULE_ENTRY: Final = "split"
# Version of the format of model.json.
VERSION = 1


class TokenizerIdentity(TypedDict, total=False):
    """Properties that differ between tokenizers.

    Attributes:
        do_lower_case: whether text is lower-cased.
        vocab: checksum of the WordPieces, in order.
    """

    do_lower_case: bool
    vocab: str


class DevSetRuleEntry(TypedDict, total=False):
    """The `DevSetRule` of a run, as model.json contains it.

    Attributes:
        rule: version of the rule.
        dev_fraction: fraction of the rows in the dev set.
        key: names of the values that decide in which set a row is.
        clean_fraction: fraction of the rows that neither the run nor its starts
            were trained on.
    """

    rule: Annotated[int, range(2**31)]
    dev_fraction: float
    key: list[str]
    clean_fraction: float


class RunFlagsEntry(TypedDict, total=False):
    """The flags of a run that other commands read. model.json contains more.

    Attributes:
        max_seq_length: length of an input, in WordPieces.
        num_train_epochs: number of passes over the train set.
        text_column: column of the text in the user's table.
        text_b_column: column of the second text, None for single texts.
        trim_padding: whether the padding of inputs is trimmed.
    """

    max_seq_length: int | None
    num_train_epochs: float | None
    text_column: str | None
    text_b_column: str | None
    trim_padding: bool | None


class TrainingInputs(TypedDict, total=False):
    """The inputs of a training: flags, data, tokenizer, network and weights.

    JSON contains each fingerprint as a list.

    Attributes:
        flags: the flags that a run compares when it is resumed.
        data: a `SetFingerprint` of each set.
        split: the `DevSetRule`, the rule of the dev set.
        train_records: a `FileFingerprint` of each file with records of the
            train set.
        input_file: a `RecordFileFingerprint` of each file of pretraining
            records to train on.
        eval_input_file: the same of those to evaluate.
        tokenizer: the tokenizer's properties.
        bert_config: contents of bert_config.json.
        left_to_right: whether a token attends only to the tokens before it.
        bilstm: whether a head reads the vectors through a bidirectional LSTM.
        init_checkpoint: a `FileFingerprint` of each file of the checkpoint of
            the start.
        init_checkpoint_network: settings that determine what the weights of the
            start compute.
        teacher: the same of the checkpoint of the teacher.
        teacher_network: settings that determine what the weights of the teacher
            compute.
    """

    flags: RunFlagsEntry
    data: Sequence[tuple[str, str, int, int]]
    split: DevSetRuleEntry
    train_records: Sequence[FingerprintEntry]
    input_file: Sequence[FingerprintEntry]
    eval_input_file: Sequence[FingerprintEntry]
    tokenizer: TokenizerIdentity
    bert_config: Mapping[str, object]
    left_to_right: bool
    bilstm: bool
    init_checkpoint: Sequence[FingerprintEntry] | None
    init_checkpoint_network: Mapping[str, object]
    teacher: Sequence[FingerprintEntry] | None
    teacher_network: Mapping[str, object]


class TrainingSettingsEntry(TaskEntry, TrainingInputs, total=False):
    """The `TrainingSettings` of a run, as model.json contains them."""


@dataclasses.dataclass(frozen=True)
class TrainingSettings:
    """The settings that a run must keep when it is resumed.

    Attributes:
        head: the head settings that the task of the run has fixed, such as the
            labels. They may contain the settings of a user's own task.
        inputs: what the training reads.
    """

    head: HeadSettings = dataclasses.field(default_factory=HeadSettings)
    inputs: TrainingInputs = dataclasses.field(default_factory=TrainingInputs)

    @classmethod
    def from_entry(cls, entry: Mapping[str, object]) -> Self:
        """Splits the entry of model.json, a `TrainingSettingsEntry`.

        A name that `TrainingInputs` does not list is of the head.
        """
        names = entry.keys() & TrainingInputs.__annotations__
        head = {key: entry[key] for key in entry if key not in names}
        inputs = {key: entry[key] for key in entry if key in names}
        return cls(cast("HeadSettings", head), cast("TrainingInputs", inputs))

    def to_entry(self) -> TrainingSettingsEntry:
        """Returns the entry of model.json, which contains both in one dict.

        The settings of the head precede the sets, as in the folders of earlier
        runs.
        """
        inputs = [*self.inputs.items()]
        names = [*self.inputs]
        place = names.index(SETS_ENTRY) if SETS_ENTRY in names else len(names)
        entry = dict([*inputs[:place], *self.head.items(), *inputs[place:]])
        return cast("TrainingSettingsEntry", entry)

    @property
    def is_empty(self) -> bool:
        """Whether there are no settings, as no run trained the weights."""
        return not (self.head or self.inputs)


class Provenance(TypedDict, total=False):
    """The origin of weights: the run that trained them, and its settings.

    Attributes:
        script: file name of the script.
        command: {flag that the user set: value}, without folders.
        settings: the `TrainingSettings` of the run.
        versions: {package: version}.
        weights: the model of the hub, hf://OWNER/NAME@REVISION, that was
            copied.
        step: training step at which the weights were saved.
    """

    script: str
    command: Mapping[str, object]
    settings: TrainingSettingsEntry
    versions: Mapping[str, str]
    weights: str
    step: int


class ModelJson(TypedDict, total=False):
    """Contents of model.json.

    Attributes:
        version: version of the format.
        task: settings of the head.
        origin: the provenance of the weights, which `provenance_of` returns.
        files: names of the files in the folder that the run wrote.
        checksums: {file of an export's network: its checksum}.
        best_step: step of the best weights of the run.
    """

    version: int
    task: TaskEntry
    origin: Provenance
    files: list[str]
    checksums: Mapping[str, str]
    best_step: int | None


def read_model_json(folder: StrPath) -> ModelJson:
    """Reads the model.json in a folder. Returns {} if it is missing.

    Raises:
        ValueError: an entry is not valid, or another version of this project
            wrote the file.
    """
    file = os.path.join(folder, MODEL_JSON_FILE)
    if not os.path.isfile(file):
        return {}
    values = read_json(file)
    version = values.get("version")
    if version != VERSION:
        raise ValueError(
            f"{file} has the version {version!r}; use the version of this "
            "project that wrote the file"
        )
    check_entries(values, ModelJson, file)
    return cast("ModelJson", values)


def create_contents(task: TaskEntry, provenance: Provenance) -> ModelJson:
    """Returns the contents of a new model.json."""
    return {
        "version": VERSION,
        "task": task,
        "origin": provenance,
    }


def format_json(contents: ModelJson) -> str:
    """Returns the text of a model.json."""
    return json.dumps(contents, indent=2) + "\n"


def head_settings_of(contents: ModelJson) -> HeadSettings:
    """Returns the settings of the head, {} if unknown.

    Args:
        contents: contents of model.json.
    """
    return contents.get("task", HeadSettings())


def provenance_of(contents: ModelJson) -> Provenance:
    """Returns the provenance of the weights in model.json, {} if unknown.

    Args:
        contents: contents of model.json.
    """
    return contents.get("origin", Provenance())


def training_settings_of(contents: ModelJson) -> TrainingSettings:
    """Returns the settings of the run that trained the weights.

    They are empty if model.json does not contain them.

    Args:
        contents: contents of model.json.
    """
    return TrainingSettings.from_entry(
        provenance_of(contents).get("settings", {})
    )


def check_entries(
    entries: Mapping[str, object], typed_dict: type[Any], file: str
) -> None:
    """Checks the types and values of entries of model.json.

    Args:
        entries: {name: value} of the entries.
        typed_dict: the TypedDict of the entries.
        file: path of the file, for messages.

    Raises:
        ValueError: a value is not valid. The message names the entry, or the
            entry in it that is not valid.
    """
    name = find_malformed_entry(entries, typed_dict)
    if name is None:
        return
    value = entries[name]
    inner_type = get_type_hints(typed_dict)[name]
    if is_typeddict(inner_type) and isinstance(value, dict):
        check_entries(value, inner_type, file)
    raise ValueError(f"{file}: `{name}` must not be {value!r:.80}")
