"""Defines the settings of a head: how its outputs are read.

They are plain dicts, because model.json contains them (model_json.py). Each
setting may be missing. Code that knows the kind of the head takes the type of
its settings, and all other code takes `HeadSettings`.

A setting that is a flag has the name of the flag, an imperative, such as
`trim_padding` or `load_best`. An argument or a property that says what the code
then does is a statement, such as `trims_padding` or `loads_best`.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias, TypedDict, cast

from model_folders.output_modes import CLASSIFICATION, OutputMode

# A whole number above 0.
Count: TypeAlias = Annotated[int, range(1, 2**31)]
# A length of inputs in WordPieces, of which [CLS] and [SEP] are two.
InputLength: TypeAlias = Annotated[int, range(3, 2**31)]


class HeadSettings(TypedDict, total=False):
    """Settings that decide how the outputs of a head of any kind are read.

    A function that takes HeadSettings also accepts the settings of any kind
    below, and a task of your own may add a subclass with its settings.

    Attributes:
        task_name: value of --task_name, such as "cola".
        labels: names of the outputs, in order. None if the outputs have no
            names.
        num_texts: 1 for single texts, 2 for pairs, None if the model accepts
            both.
        max_seq_length: length of an input, in WordPieces.
        doc_stride: WordPieces between the starts of the windows of a text, 0 =
            no windows.
        trim_padding: whether the padding of inputs is trimmed.
        load_best: whether a run reports its best step, or its last.
    """

    task_name: str | None
    labels: Sequence[str] | None
    num_texts: Annotated[int, range(1, 3)] | None
    max_seq_length: InputLength
    # Serving would loop for ever with a negative stride.
    doc_stride: Annotated[int, range(2**31)]
    trim_padding: bool
    load_best: bool


class ClassifierSettings(HeadSettings, total=False):
    """Settings of a classifier of texts.

    Attributes:
        output_mode: what the labels are.
        problem_type: the name of `output_mode` in transformers, a value of
            `PROBLEM_TYPE_OF_MODE` in formats/huggingface_config.py.
        class_weights: {label: its weight in the training loss}.
        processor: name of the user's class that read the examples.
    """

    output_mode: OutputMode | None
    problem_type: str | None
    class_weights: Mapping[str, float]
    processor: str


class TokenClassifierSettings(HeadSettings, total=False):
    """Settings of a token classifier.

    Attributes:
        legal_tags: whether the best legal sequence of tags is chosen, or each
            tag alone.
    """

    legal_tags: bool


class SpanLabelerSettings(HeadSettings, total=False):
    """Settings of a span labeler: fields of the options in data/squad.

    Attributes:
        max_query_length: length of a question in a window, in WordPieces.
        use_char_offsets: whether answers are located by characters, not by
            words.
        n_best_size: number of answers among which the best is chosen.
        max_answer_length: length of an answer, in WordPieces.
        version_2_with_negative: whether a question may have no answer.
        null_score_diff_threshold: by how much the score of "no answer" must
            exceed the score of the best answer.
        verbose_logging: whether answers that cannot be mapped to the passage
            are logged.
    """

    max_query_length: Count
    use_char_offsets: bool
    n_best_size: Count
    max_answer_length: Count
    version_2_with_negative: bool
    null_score_diff_threshold: float
    verbose_logging: bool


class TaskEntry(
    ClassifierSettings,
    TokenClassifierSettings,
    SpanLabelerSettings,
    total=False,
):
    """The entry `task` of model.json: the settings of a head of any kind.

    Attributes:
        name: name of the class of the model, such as "BertClassifier".
    """

    name: str | None


def classifier_settings_of(head_settings: HeadSettings) -> ClassifierSettings:
    """Returns the settings of a head that may be a classifier.

    The settings of another head do not contain those of a classifier.
    """
    return cast("ClassifierSettings", head_settings)


def output_mode_of(head_settings: HeadSettings) -> OutputMode:
    """Returns the output mode of a head, CLASSIFICATION by default."""
    stated = classifier_settings_of(head_settings).get("output_mode")
    return stated or CLASSIFICATION
