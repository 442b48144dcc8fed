"""SWAG (paper 4.4): which of four endings continues a sentence?

Each choice is a pair of texts. The first text is the sentence. The second text
is the words with which all endings start, followed by one ending:

    [CLS] A drum line passes by . [SEP] Members of the procession wait . [SEP]
"""

import dataclasses
from collections.abc import Iterable, Iterator

from data.classification.features import (
    ClassificationFeatures,
    InputExample,
    convert_single_example,
    join_inputs,
)
from data.io.tables import read_table
from data.io.text_files import SetReader, find_set_file
from data.text.tokenization import FullTokenizer
from files.paths import StrPath

NUM_CHOICES = 4
LABELS = [str(i) for i in range(NUM_CHOICES)]

_ENDINGS = tuple(f"ending{i}" for i in range(NUM_CHOICES))
_SET_FILES = {
    name: [f"{file}{ending}" for ending in (".csv", ".jsonl", ".parquet")]
    for name, file in (("train", "train"), ("dev", "val"), ("test", "test"))
}


@dataclasses.dataclass(slots=True)
class SwagExample:
    """A sentence, and four endings of which one continues the sentence.

    Attributes:
        guid: str, name of the example.
        context_sentence: str.
        start_ending: str, the words that all endings begin with.
        endings: list of str, the rest of each ending.
        label: int, index of the right ending, or None if it is unknown.
    """

    guid: str
    context_sentence: str
    start_ending: str
    endings: list[str]
    label: int | None

    @property
    def gold_label(self) -> str | None:
        """Index of the right ending as a string, or None if it is unknown."""
        return None if self.label is None else LABELS[self.label]


class SwagProcessor(SetReader[SwagExample]):
    """Reads SWAG's CSV files, or JSON lines or Parquet with the same columns.

    The columns are sent1, sent2, ending0 to ending3 and label. Other columns
    are ignored. A test set may have no label column, or empty labels.
    """

    def read_set(self, data_dir: StrPath, name: str) -> list[SwagExample]:
        """Reads the set `name` ("train", "dev" or "test") of SWAG.

        Raises:
            OSError: the set's file does not exist, or cannot be read.
            ValueError: a row is malformed, or the file contains no example.
        """
        path = find_set_file(data_dir, name, _SET_FILES[name])
        columns = ["sent1", "sent2", *_ENDINGS]
        is_test = name == "test"
        label_columns = ["label"]
        rows = read_table(
            path,
            columns,
            label_columns * (not is_test),
            optional_columns=label_columns * is_test,
        )
        examples: list[SwagExample] = []
        for where, (sent1, sent2, *endings, cell) in rows:
            label = None
            if not is_test or cell not in (None, ""):
                if str(cell) not in LABELS:
                    raise ValueError(
                        f"{where}, column 'label': the label must be the "
                        f"number of an ending, {', '.join(LABELS)}. Received: "
                        f"{str(cell)[:80]!r}"
                    )
                label = int(cell)
            guid = f"{name}-{len(examples) + 1}"
            examples.append(SwagExample(guid, sent1, sent2, endings, label))
        if not examples:
            raise ValueError(f"{path} contains no example")
        return examples


def create_features(
    examples: Iterable[SwagExample],
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> Iterator[ClassificationFeatures]:
    """Converts each example to one input that contains all its choices.

    Yields:
        ClassificationFeatures: input_ids, input_mask and segment_ids contain
        the choices one after another, as lists of int, [choices *
        max_seq_length]. label_id is the index of the right choice, or 0 if it
        is unknown.

    Raises:
        ValueError: max_seq_length is less than 3.
    """
    for ex_index, example in enumerate(examples):
        choices = (
            convert_single_example(
                ex_index * NUM_CHOICES + i,
                InputExample(
                    f"{example.guid} ending {i}",
                    example.context_sentence,
                    f"{example.start_ending} {ending}",
                    str(example.label or 0),
                ),
                LABELS,
                max_seq_length,
                tokenizer,
            )
            for i, ending in enumerate(example.endings)
        )
        yield join_inputs(choices, example.label or 0)


def describe_example(example: SwagExample) -> dict[str, str]:
    """Returns the fields that describe an example in predictions.jsonl.

    These are `guid`, its name, and `gold_label`, the index of the right ending
    as a string, if it is known.
    """
    label = example.gold_label
    return {"guid": example.guid} | ({"gold_label": label} if label else {})


def describe_choices(
    answered: Iterable[tuple[SwagExample, int]],
) -> list[dict[str, str]]:
    """Returns a dict of "text", "right" and "predicted" for each example.

    "right" and "predicted" are the right and the predicted ending. `answered`
    are pairs (example, index of the predicted ending).
    """
    return [
        {
            "text": f"{example.context_sentence} {example.start_ending}",
            "right": example.endings[example.label or 0],
            "predicted": example.endings[choice],
        }
        for example, choice in answered
    ]
