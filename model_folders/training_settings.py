"""Defines the training settings: what a run must keep when it is resumed.

They are the head settings that the task of the run has fixed, and the inputs of
its training. Only this module knows that model.json contains both in one
object.

This module imports neither Keras nor TensorFlow.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Self, TypedDict, cast

from model_folders.fingerprints import FingerprintEntry
from model_folders.head_settings import HeadSettings, TaskEntry

# Keys of `TrainingInputs` that are other words than the code uses: of the
# `SetFingerprint` of each set, and of the `DevSetRule`. They stay as they are,
# because the folders of earlier runs contain them.
SETS_ENTRY: Final = "data"
DEV_SET_RULE_ENTRY: Final = "split"


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
