"""Reads SWAG: which of four endings continues a sentence?

The BERT paper describes this task in section 4.4.

Each choice is a pair of texts. The first text is the sentence. The second text
consists of the words that begin all endings, and one ending:

    [CLS] A drum line passes by . [SEP] Members of the procession wait . [SEP]
"""

import dataclasses
from collections.abc import Iterable, Iterator

from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    ClassificationFeatures,
    InputGroup,
    create_joined_features,
)
from data.sets.set_names import BaseSet, find_set_file
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout
from data.tables.tables import Table, TableRow, read_table, texts_of
from data.text.tokenization import FullTokenizer
from files.paths import StrPath

NUM_CHOICES = 4
LABELS = [str(index) for index in range(NUM_CHOICES)]

_TEXT_COLUMNS = (
    "sent1",
    "sent2",
    *(f"ending{index}" for index in range(NUM_CHOICES)),
)
_FILE_ENDINGS = (".csv", ".jsonl", ".json", ".parquet", ".xlsx")
_FILE_STEMS: dict[BaseSet, str] = {
    "train": "train",
    "dev": "val",
    "test": "test",
}


@dataclasses.dataclass(slots=True)
class SwagExample:
    """A sentence, and four endings of which one continues the sentence.

    Attributes:
        guid: name of the example.
        context_sentence: the sentence to continue.
        endings: the endings, which begin with the same words.
        label: index of the right ending as text, one of LABELS, or None if
            it is unknown.
    """

    guid: str
    context_sentence: str
    endings: list[str]
    label: str | None


def read_swag_set(
    data_dir: StrPath | None,
    set_name: BaseSet,
    layout: TableLayout = DEFAULT_LAYOUT,
) -> list[SwagExample]:
    """Reads the set `set_name` ("train", "dev" or "test") of SWAG.

    The file is SWAG's CSV file, or another table with the same columns: sent1,
    sent2, ending0 to ending3 and label. Other columns are ignored. A
    test set may have no label column, or empty labels.

    Raises:
        OSError: the set's file does not exist, or cannot be read.
        ValueError: the set is empty, or a line is malformed. The message names
            the file and the line.
    """
    file_names = [f"{_FILE_STEMS[set_name]}{end}" for end in _FILE_ENDINGS]
    path = find_set_file(data_dir, set_name, file_names)
    label_columns = [] if set_name == "test" else ["label"]
    rows = read_table(Table(path, layout), _TEXT_COLUMNS, label_columns)
    examples = [
        _create_example(row, set_name, row_number)
        for row_number, row in enumerate(rows, 1)
    ]
    if not examples:
        raise ValueError(f"{path} contains no example")
    return examples


def _create_example(
    row: TableRow, set_name: BaseSet, row_number: int
) -> SwagExample:
    """Returns the example of a row, whose number in the set is from 1."""
    sent1, sent2, *endings = texts_of(row.cells, _TEXT_COLUMNS)
    cell = row.cells.get("label")
    may_be_empty = set_name == "test"
    label = None if may_be_empty and cell in (None, "") else str(cell)
    if label not in (None, *LABELS):
        raise ValueError(
            f"{row.place}, column 'label': the label must be the number of "
            f"an ending, {', '.join(LABELS)}. Received: {str(cell)[:80]!r}"
        )
    return SwagExample(
        guid=f"{set_name}-{row_number}",
        context_sentence=sent1,
        endings=[f"{sent2} {ending}" for ending in endings],
        label=label,
    )


def create_swag_features(
    examples: Iterable[SwagExample],
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> Iterator[ClassificationFeatures]:
    """Converts each example to one input that contains all its choices.

    Yields:
        ClassificationFeatures: input_ids, input_mask and segment_ids contain
        the choices one after another, as lists of int, [choices *
        max_seq_length]. label_id is 0 if the right choice is unknown.
    """

    def create_choices(example: SwagExample) -> InputGroup:
        choices = [
            InputExample(example.guid, example.context_sentence, ending)
            for ending in example.endings
        ]
        return InputGroup(choices, LABELS.index(example.label or LABELS[0]))

    groups = map(create_choices, examples)
    return create_joined_features(groups, max_seq_length, tokenizer)
