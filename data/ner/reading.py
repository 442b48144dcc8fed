"""Reads sentences with tagged words, or texts with spans of named entities."""

import itertools
import os
import re
from collections.abc import Iterator

from absl import logging

from data.io import text_files
from data.ner import spans
from data.ner.scoring import to_scheme
from data.ner.sentence_windows import NerExample
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
# Tuples of a line's number and its columns, or of each column's cells.
_Rows = list[tuple[str, ...]]
# The number of a sentence's document, and the rows of its words.
_Sentence = tuple[int, _Rows]


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
        self._columns = text_column, label_column

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
        if path.removesuffix(".gz").endswith((".json", ".jsonl")):
            found = spans.read(path, needs_spans=name != "test")
        else:
            found = _read_columns(path, *self._columns, name == "test")
        known = self._labels
        examples: list[NerExample] = []
        # {tag that is not one of the labels: place where it first occurs}
        unknown: dict[str, str] = {}
        for where, example in found:
            example.guid = f"{name}-{len(examples) + 1}"
            example.labels = to_scheme(example.labels, known or ())
            for tag in sorted({*example.labels} - {*(known or example.labels)}):
                unknown.setdefault(tag, where)
            examples.append(example)
        if not examples:
            raise ValueError(f"{path} contains no sentence or annotated text")
        if unknown:
            tag, where = next(iter(unknown.items()))
            message = f"{where}: unknown tag {tag!r}. The tags are {known}"
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


def _read_columns(
    path: str, text_column: int | None, label_column: int | None, is_test: bool
) -> Iterator[tuple[str, NerExample]]:
    # Yields the first line and each sentence of a set.
    sentences = [*_read_sentences(path, label_column)]
    if not sentences:
        return
    every = itertools.chain(*(rows for _, rows in sentences))
    columns = [*zip(*every, strict=True)]
    width = len(columns) - 1
    tags_at = label_column or width
    if is_test and (width == 1 or tags_at > width):
        tags_at = 0  # A test set without tags.
    words_at = text_column or (2 if tags_at == 1 else 1)
    if words_at == tags_at or max(words_at, tags_at) > width:
        raise ValueError(
            f"{path}: a line must contain a word and its tag, separated by a "
            f"tab or spaces. The lines have {width} columns, but column "
            f"{words_at} must be the words, and {tags_at} the tags; set "
            "--text_column and --label_column"
        )
    if not text_column and width > 1:
        _check_words(path, sentences, columns, words_at)
    if not label_column:
        _check_nested(path, columns, words_at)
    # PAN-X writes a language before each word, such as "en:".
    common = os.path.commonprefix(columns[words_at])
    language = re.match("[a-z-]+:", common) if len(sentences) > 1 else None
    prefix = language.group() if language else ""
    tags = {*columns[tags_at]} if tags_at else {"O"}
    # Tags without a scheme, such as PER, are the types of words. Successive
    # words of one type are an entity, as in IOB1.
    has_types = "O" in tags and not (
        any(map(_TAG.fullmatch, tags - {"O"}))
        or _COLUMN_NAMES & {*map(str.lower, tags)}
    )
    for document, rows in sentences:
        example = NerExample("", [], [], document)
        for row in rows:
            word, tag = row[words_at], row[tags_at] if tags_at else "O"
            if has_types and tag != "O":
                tag = f"I-{tag}"
            if not word or not _TAG.fullmatch(tag):
                raise ValueError(
                    f"{path}, line {row[0]}: the word is {word!r} and its tag "
                    f"is {tag!r}, which must be O, or B, I, E, S, L, U or M, "
                    "usually followed by a hyphen and a type, as in B-PER. If "
                    "the tags are in another column, set --label_column. "
                    "Remove a line of column names"
                )
            example.words.append(word.removeprefix(prefix) or word)
            example.labels.append(tag)
        yield f"{path}, line {rows[0][0]}", example


def _check_nested(path: str, columns: _Rows, words_at: int) -> None:
    # Raises an error if another column uses an entity type of the last column.
    # GermEval 2014 tags entities in one column, and entities nested in them in
    # the next column. CoNLL-2003 passes, because its column of chunks uses
    # types such as NP, which are not entity types.
    *others, last = (
        {cell[2:] for cell in column if re.match("[BIESLUM]-.", cell)}
        for column in columns
    )
    for number, types in enumerate(others):
        if number != words_at and types & last:
            raise ValueError(
                f"{path}: columns {number} and {len(others)} both contain "
                f"tags of the type {min(types & last)}. Set --label_column to "
                f"the column to learn, such as {number}"
            )


def _check_words(
    path: str, sentences: list[_Sentence], columns: _Rows, words_at: int
) -> None:
    # Raises an error if the column of the words numbers words or sentences. In
    # a file of two columns, the column beside the tags contains the words, even
    # if each sentence only repeats one word.
    words = columns[words_at]
    has_digits = all(re.search(r"\d", word) for word in words)
    is_same = len(columns) > 3 and len(words) > len(sentences)
    if (
        has_digits
        or is_same
        and all(
            len({row[words_at] for row in rows}) == 1 for _, rows in sentences
        )
    ):
        raise ValueError(
            f"{path}: cells such as {[*words[:3]]} are no words: each "
            "contains a digit, or the cells of each sentence are equal. "
            "Remove the digits, or set --text_column to the column of the "
            "words, even if it is this one"
        )


def _read_sentences(
    path: StrPath, label_column: int | None
) -> Iterator[_Sentence]:
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
    document, rows = 0, _Rows()
    # An additional blank line ends the last sentence.
    for number, line in [*lines, (0, "")]:
        cells = _cut(line, separator)
        # Check all columns, because the first one need not contain the words.
        if not cells or any(cell.startswith(_DOCUMENT) for cell in cells):
            if rows:
                yield document, rows
            document, rows = document + bool(cells), []
            continue
        # A line that starts with "# " or "## " may precede a sentence as a
        # comment. It may have as many columns as a word's line, but contains no
        # tag.
        is_comment = len(cells) != width or (
            not rows
            and width > 1
            and re.match("#+( |$)", cells[0])
            and not _TAG.fullmatch(cells[min(label_column or width, width) - 1])
        )
        if is_comment and line.startswith("#"):
            continue
        if len(cells) != width:
            raise ValueError(
                f"{path}, line {number}: the line has {len(cells)} columns, "
                f"but the first line has {width}. Received: {line[:80]!r}"
            )
        rows.append((str(number), *cells))


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
