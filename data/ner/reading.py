"""Reads sentences with tagged words, or texts with spans of named entities."""

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence

from absl import logging

from data.io import text_files
from data.ner import spans
from data.ner.scoring import to_scheme
from files.labels import check_labels
from files.paths import StrPath

_DOCUMENT = "-DOCSTART-"
_BLANKS = " \t"
_TAG = re.compile("O|[BIESLUM](-.+)?")
# Tags of a line of column names, which are no types of entities.
_COLUMN_NAMES = {"tag", "tags", "label", "labels", "ner", "ner_tag", "ner_tags"}
_SET_FILES = {
    "train": ("train.txt", "eng.train", "train.jsonl", "train.json"),
    "dev": (
        *("valid.txt", "dev.txt", "eng.testa"),
        *("dev.jsonl", "dev.json", "valid.jsonl", "valid.json"),
    ),
    "test": ("test.txt", "eng.testb", "test.jsonl", "test.json"),
}
# The lines of a sentence: the number and the columns of each word.
_Lines = list[tuple[int, list[str]]]


@dataclasses.dataclass(slots=True)
class NerExample:
    """A sentence with tagged words, or a text with annotated spans.

    Attributes:
        guid: str, name of the example.
        words: list of str, the words of the sentence or text.
        labels: list of str, the words' tags.
        document: int, number of the document that contains the sentence.
        text: str, the text, or None if the file contains words in columns.
        places: list of (start, end) of each word in `text`, in characters.
            `end` is exclusive. Empty if `text` is None.
    """

    guid: str
    words: list[str]
    labels: list[str]
    document: int
    text: str | None = None
    places: Sequence[tuple[int, int]] = ()


class NerProcessor:
    """Reads the train, dev and test sets of a task with named entities.

    Files named .json and .jsonl contain texts with spans, as spans.py
    describes. Other files are in the layout of CoNLL-2003: a line contains a
    word and its tag in columns. Tabs separate the columns if the first line
    contains a tab. Otherwise, spaces separate them. An empty line ends a
    sentence, and a line with -DOCSTART- begins a document. Comments begin with
    #. All other lines contain the same number of columns. In a test set, the
    column of the tags may be missing.

    Tags may be in any scheme that scoring.py describes, such as the IOB1 of
    CoNLL-2003, or only types, such as PER. They are converted to IOB2, or to
    the scheme of `labels`.

    Args:
        labels: names of the tags. None uses the tags of the train set, "O"
            first.
        text_column: number of the words' column, counted from 1. None means the
            first column that does not contain the tags.
        label_column: number of the tags' column, counted from 1. None means the
            last column.

    Raises:
        ValueError: `labels` contains fewer than two labels, or a label twice.
    """

    def __init__(
        self,
        labels: list[str] | None = None,
        text_column: int | None = None,
        label_column: int | None = None,
    ) -> None:
        if labels is not None:
            check_labels(labels, "--labels", fewest=2)
        self._labels = labels
        self._text_column = text_column
        self._label_column = label_column

    def get_labels(self, data_dir: StrPath) -> list[str]:
        """Returns the names of the tags, from `labels` or the train set.

        Raises:
            OSError: `labels` is None, and the train set cannot be read.
            ValueError: the train set is malformed, or contains no entity.
        """
        if self._labels is None:
            examples = self.read_set(data_dir, "train")
            tags = {tag for example in examples for tag in example.labels}
            if examples[0].text is not None:
                # For each B- tag add the I- tag, because entities of this type
                # may have several words only in the dev and test sets.
                tags |= {tag.replace("B-", "I-", 1) for tag in tags}
            if tags == {"O"}:
                raise ValueError(
                    f"the only tag of the train set in {data_dir} is O; mark "
                    "the entities to learn, with tags such as B-PER and I-PER"
                )
            self._labels = ["O", *sorted(tags - {"O"})]
        return self._labels

    def read_set(self, data_dir: StrPath, name: str) -> list[NerExample]:
        """Reads the set `name` ("train", "dev" or "test") from its file.

        Raises:
            OSError: the set's file does not exist, or cannot be read.
            ValueError: the set contains no sentence or text, or a line or an
                entry is malformed. The message names the file and the line.
        """
        path = text_files.find_set_file(data_dir, name, _SET_FILES[name])
        has_spans = path.removesuffix(".gz").endswith((".json", ".jsonl"))
        read = self._read_spans if has_spans else self._read_columns
        examples: list[NerExample] = []
        # {tag that is not one of the labels: place where it first occurs}
        unknown: dict[str, str] = {}
        for where, example in read(path, name == "test"):
            example.guid = f"{name}-{len(examples) + 1}"
            example.labels = to_scheme(example.labels, self._labels or ())
            if self._labels is not None:
                for tag in sorted({*example.labels} - {*self._labels}):
                    unknown.setdefault(tag, where)
            examples.append(example)
        if not examples:
            raise ValueError(f"{path} contains no sentence or annotated text")
        if unknown:
            tag, where = next(iter(unknown.items()))
            message = (
                f"{where}: unknown tag {tag!r}. The tags are {self._labels}"
            )
            tags = {tag for example in examples for tag in example.labels}
            # A warning suffices for a dev or test set, unless all its tags
            # except O are unknown.
            if name == "train" or unknown.keys() >= tags - {"O"}:
                raise ValueError(message)
            logging.warning(
                "%s. In the scores, words tagged %s count as errors.",
                *(message, ", ".join(unknown)),
            )
        return examples

    def _read_spans(
        self, path: str, is_test: bool
    ) -> Iterator[tuple[str, NerExample]]:
        # Yields the place in the file and each text of a set.
        texts = spans.read(path, needs_spans=not is_test)
        for number, (where, text, places, tags) in enumerate(texts, start=1):
            words = [text[start:end] for start, end in places]
            yield where, NerExample("", words, tags, number, text, places)

    def _read_columns(
        self, path: str, is_test: bool
    ) -> Iterator[tuple[str, NerExample]]:
        # Yields the first line and each sentence of a set.
        sentences, width = _read_sentences(path, self._label_column)
        if not sentences:
            return
        label_column = self._label_column or width
        if is_test and (width == 1 or label_column > width):
            label_column = 0  # A test set without tags.
        text_column = self._text_column or (2 if label_column == 1 else 1)
        if (
            text_column == label_column
            or max(text_column, label_column) > width
        ):
            raise ValueError(
                f"{path}: a line must contain a word and its tag, separated by "
                f"a tab or spaces. The lines have {width} columns, but column "
                f"{text_column} must be the words, and {label_column} the tags;"
                " set --text_column and --label_column"
            )
        rows = [row for _, lines in sentences for _, row in lines]
        columns = [*zip(*rows, strict=True)]
        if not self._text_column and width > 1:
            words = [[x[text_column - 1] for _, x in y] for _, y in sentences]
            _check_words(path, words, width)
        if not self._label_column:
            _check_nested(path, columns, text_column)
        # PAN-X writes a language before each word, such as "en:".
        common = os.path.commonprefix(columns[text_column - 1])
        language = re.match("[a-z-]+:", common) if len(sentences) > 1 else None
        prefix = language.group() if language else ""
        tags = {*columns[label_column - 1]} if label_column else {"O"}
        # Tags without a scheme, such as PER, are the types of words. Successive
        # words of one type are an entity, as in IOB1.
        has_types = "O" in tags and not (
            any(map(_TAG.fullmatch, tags - {"O"}))
            or _COLUMN_NAMES & {*map(str.lower, tags)}
        )
        for document, lines in sentences:
            example = NerExample("", [], [], document)
            for number, row in lines:
                word = row[text_column - 1]
                tag = row[label_column - 1] if label_column else "O"
                if has_types and tag != "O":
                    tag = f"I-{tag}"
                if not word or not _TAG.fullmatch(tag):
                    raise ValueError(
                        f"{path}, line {number}: the word is {word!r} and its "
                        f"tag is {tag!r}, which must be O, or B, I, E, S, L, U "
                        "or M, usually followed by a hyphen and a type, as in "
                        "B-PER. If the tags are in another column, set "
                        "--label_column. Remove a line of column names"
                    )
                example.words.append(word.removeprefix(prefix) or word)
                example.labels.append(tag)
            yield f"{path}, line {lines[0][0]}", example


def _check_nested(
    path: str, columns: list[tuple[str, ...]], text_column: int
) -> None:
    # Raises an error if another column uses an entity type of the last column.
    # GermEval 2014 tags entities in one column, and entities nested in them in
    # the next column. CoNLL-2003 passes, because its column of chunks uses
    # types such as NP, which are not entity types.
    *others, last = (
        {cell[2:] for cell in column if re.match("[BIESLUM]-.", cell)}
        for column in columns
    )
    for number, types in enumerate(others, start=1):
        if number != text_column and types & last:
            raise ValueError(
                f"{path}: columns {number} and {len(columns)} both contain "
                f"tags of the type {min(types & last)}. Set --label_column to "
                f"the column to learn, such as {number}"
            )


def _check_words(path: str, words: list[list[str]], width: int) -> None:
    # Raises an error if the column of the words numbers words or sentences. In
    # a file of two columns, the column beside the tags contains the words, even
    # if each sentence only repeats one word.
    has_digits = all(re.search(r"\d", x) for rows in words for x in rows)
    is_same = width > 2 and all(len({*rows}) == 1 for rows in words)
    if has_digits or (is_same and max(map(len, words)) > 1):
        raise ValueError(
            f"{path}: cells such as {words[0][:3]} are no words: each "
            "contains a digit, or the cells of each sentence are equal. "
            "Remove the digits, or set --text_column to the column of the "
            "words, even if it is this one"
        )


def _read_sentences(
    path: StrPath, label_column: int | None
) -> tuple[list[tuple[int, _Lines]], int]:
    # Returns [(number of its document, lines)] of the sentences, and the number
    # of columns.
    lines = [*text_files.read_numbered(path)]
    # The first line that contains a word and does not begin with # determines
    # the layout. If all lines begin with #, then # is a word, not a comment.
    words = [
        line
        for _, line in lines
        if line.strip(_BLANKS) and not line.startswith(_DOCUMENT)
    ]
    first = min(words, key=lambda line: line[0] == "#", default="")
    separator = "\t" if "\t" in first.rstrip(_BLANKS) else None
    width = len(_cut(first, separator))
    document = 0
    sentences: list[tuple[int, _Lines]] = []
    sentence: _Lines = []
    # An additional blank line ends the last sentence.
    for number, line in [*lines, (0, "")]:
        row = _cut(line, separator)
        # Check all columns, because the first one need not contain the words.
        if not row or any(cell.startswith(_DOCUMENT) for cell in row):
            if sentence:
                sentences.append((document, sentence))
                sentence = []
            document += bool(row)
            continue
        # A line that starts with "# " or "## " may precede a sentence as a
        # comment. It may have as many columns as a word's line, but contains no
        # tag.
        is_comment = width > 1 and not sentence and re.match("#+( |$)", row[0])
        tag = row[min(label_column or width, len(row)) - 1]
        if is_comment and not _TAG.fullmatch(tag):
            continue
        if len(row) == width:
            sentence.append((number, row))
        elif not line.startswith("#"):
            raise ValueError(
                f"{path}, line {number}: the line has {len(row)} columns, but "
                f"the first line has {width}. Received: {line[:80]!r}"
            )
    return sentences, width


def _cut(line: str, separator: str | None) -> list[str]:
    # Splits a line into columns, [] if it contains only spaces and tabs.
    # `separator` is a tab, or None if any number of spaces and tabs separates
    # the columns. Other white space, such as a no-break space, is part of a
    # word. If tabs separate the columns, a word may be a single space.
    if not line.strip(_BLANKS):
        return []
    if separator is None:
        return re.findall(f"[^{_BLANKS}]+", line)
    cells = line.rstrip("\t").split(separator)
    return [cell.strip(" ") or cell for cell in cells]
