"""Names the entries of model.json, with their types.

model_json.py reads and checks the file. The entries are plain dicts, so that
they can be written as JSON again. Each entry may be missing.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias, TypedDict, cast

from files.paths import StrPath

# What tells a file from others of its name: [name, bytes, a checksum], and of a
# file of records [name, bytes, three checksums]. It is a list, as JSON has it,
# because a resumed run compares it with model.json as a whole.
Fingerprint: TypeAlias = list[str | int]
# What a classifier's labels are: one for each text, any number, or a number.
OutputMode: TypeAlias = Literal["classification", "multilabel", "regression"]


class StatedCasing(TypedDict, total=False):
    """The casing that a file states, and the file."""

    do_lower_case: bool | None
    file: StrPath


class TokenizerIdentity(TypedDict, total=False):
    """Properties that differ between tokenizers."""

    do_lower_case: bool
    # Checksum of the WordPieces, in order.
    vocab: str


class HeadSettings(TypedDict, total=False):
    """Settings that decide how the outputs of any head are read.

    A task, an export and `serving.load` pass them on from the training to the
    answers. A head that needs more has a subclass. So has a task of your own
    that records more.
    """

    # The class of the model, as in `kinds.KINDS`.
    name: str | None
    # Value of --task_name, such as "cola".
    task_name: str | None
    output_mode: OutputMode | None
    # The same in transformers, a value of `kinds.PROBLEM_TYPE_OF_MODE`.
    problem_type: str | None
    # Names of the outputs, in order. None if they have no names.
    labels: Sequence[str] | None
    # 1 for single texts, 2 for pairs, None if either may be asked.
    num_texts: int | None
    # Length of an input, in WordPieces.
    max_seq_length: int
    # WordPieces between the starts of the windows of a text, 0 = no windows.
    doc_stride: int
    # Whether the best legal sequence of tags is chosen, or each tag alone.
    legal_tags: bool
    # Whether the padding of inputs is skipped.
    trim_padding: bool
    # Whether a run reports its best step, or its last.
    load_best: bool


class ClassifierSettings(HeadSettings, total=False):
    """Settings of a classifier of texts."""

    # {label: its weight in the training loss}.
    class_weights: Mapping[str, float]
    # Name of the user's class that read the examples.
    processor: str


class SpanSettings(HeadSettings, total=False):
    """Settings of a span labeler: fields of the options in data/squad."""

    # Length of a question in a window, in WordPieces.
    max_query_length: int
    # Whether answers are located by characters, not by words.
    use_char_offsets: bool
    # Number of answers among which the best is chosen.
    n_best_size: int
    # Length of an answer, in WordPieces.
    max_answer_length: int
    # Whether a question may have no answer.
    version_2_with_negative: bool
    # By how much the score of "no answer" must exceed that of the best answer.
    null_score_diff_threshold: float
    # Whether answers that cannot be mapped to the passage are logged.
    verbose_logging: bool


# The default of attributes, which nobody may add to.
NO_SETTINGS = cast("HeadSettings", MappingProxyType({}))


class NetworkOptions(TypedDict):
    """Options of the network for which bert_config.json contains no entry."""

    # Whether a token attends only to the tokens before it.
    left_to_right: bool
    # Whether a head reads the vectors through a bidirectional LSTM.
    bilstm: bool


class DevSetRuleEntry(TypedDict):
    """The `DevSetRule` of a run, as model.json contains it."""

    rule: int
    dev_fraction: float
    key: list[str]
    clean_fraction: float


class RecordedFlags(TypedDict, total=False):
    """The flags of a run that other commands read. It records more of them."""

    max_seq_length: int
    num_train_epochs: float
    text_column: str | None
    text_b_column: str | None
    trim_padding: bool | None


class TrainingSettings(ClassifierSettings, total=False):
    """Settings that a resume of the run must not change."""

    # The flags that a run compares when it is resumed.
    flags: RecordedFlags
    # (name, file, rows, checksum) of each set, as `RecordedSet` names them. In
    # JSON, each is a list.
    data: Sequence[tuple[str, str, int, int]]
    # The rule of the dev set. recorded_sets.py says why the key is "split".
    split: DevSetRuleEntry
    # The files of the records of the train set.
    train_records: list[Fingerprint]
    # The files of pretraining records, to train on and to evaluate.
    input_file: list[Fingerprint]
    eval_input_file: list[Fingerprint]
    tokenizer: TokenizerIdentity
    # Contents of bert_config.json.
    bert_config: Mapping[str, object]
    # The `NetworkOptions`.
    left_to_right: bool
    bilstm: bool
    # The checkpoint of the start, and what interprets its weights.
    init_checkpoint: list[Fingerprint] | None
    init_checkpoint_network: Mapping[str, object]
    # The checkpoint of the teacher, and what interprets its weights.
    teacher: list[Fingerprint] | None
    teacher_network: Mapping[str, object]


class Provenance(TypedDict, total=False):
    """Where weights are from: the run that trained them."""

    # File name of the script.
    script: str
    # {flag that the user set: value}, without folders.
    command: Mapping[str, object]
    settings: TrainingSettings
    # {package: version}.
    versions: Mapping[str, str]
    # The model of the hub, hf://OWNER/NAME@REVISION, that was copied.
    weights: str
    # Training step at which the weights were saved.
    step: int


class ModelJson(TypedDict, total=False):
    """Contents of model.json."""

    # Version of the format.
    version: int
    task: HeadSettings
    origin: Provenance
    # Names of the files in the folder that the run wrote.
    files: list[str]
    # {file of an export's network: its checksum}.
    checksums: Mapping[str, str]
    # Step of the best weights of the run.
    best_step: int | None
