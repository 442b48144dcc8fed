"""Reads sentences with named entities, in columns or as spans of texts."""

import dataclasses
import re
from collections.abc import Iterator, Sequence

from absl import logging

from data.io import text_files
from data.io.sets import SetReader, find_set_file
from data.ner import spans
from data.ner.scoring import to_scheme
from data.ner.words import split_words
from files.labels import check_labels
from files.paths import StrPath

_DOCUMENT = "-DOCSTART-"
_BLANKS = " \t\r"
_TAG = re.compile("O|[BIESLUM](-.+)?")
# A word and its tag, separated by a character that is not supported.
_OTHER_COLUMNS = re.compile(r".+(?:_|[^\w-])(O|[BIESLUM](-.+)?)")
_SET_FILES = {
    "train": ("train.txt", "eng.train", "train.jsonl", "train.json"),
    "dev": (
        *("valid.txt", "dev.txt", "eng.testa"),
        *("dev.jsonl", "dev.json", "valid.jsonl", "valid.json"),
    ),
    "test": ("test.txt", "eng.testb", "test.jsonl", "test.json"),
}


@dataclasses.dataclass(slots=True)
class NerExample:
    """One sentence, or one text of a file of spans.

    Attributes:
        guid: str, name of the example.
        words: list of str.
        labels: list of str, the words' tags.
        document: int, number of the document that contains the sentence.
        text: str, the text if the file contains spans, or None.
        places: list of (start, end), positions of the words in the text.
    """

    guid: str
    words: list[str]
    labels: list[str]
    document: int
    text: str | None = None
    places: Sequence[tuple[int, int]] = ()


class NerProcessor(SetReader[NerExample]):
    """Reads the sets of a data folder.

    Files named .json and .jsonl contain texts with spans, see spans.py. Other
    files have CoNLL-2003's layout: a line contains a word and its tag in
    columns. Tabs separate the columns if the first line contains a tab.
    Otherwise, blanks separate them. An empty line ends a sentence, and a line
    with -DOCSTART- ends a document. All lines have the same number of columns,
    except comments, which begin with #. A test set may lack the tags.

    Tags may be in any scheme of scoring.py, such as the IOB1 of CoNLL-2003.
    They are converted to IOB2, or to the scheme of `labels`.

    Args:
        labels: names of the tags. None uses the tags of the train set, "O"
            first.
        text_column: number of the words' column, from 1. None means the first
            column that does not contain the tags.
        label_column: number of the tags' column, from 1. None means the last.
        split_words: function that splits a text with spans into words.

    Raises:
        ValueError: `labels` contains fewer than two labels, or a label twice.
    """

    def __init__(
        self,
        labels: list[str] | None = None,
        text_column: int | None = None,
        label_column: int | None = None,
        split_words: spans.Split = split_words,
    ) -> None:
        self._split_words = split_words
        if labels is not None:
            check_labels(labels, "--labels", fewest=2)
        self._labels = labels
        self._text_column = text_column
        self._label_column = label_column

    def get_labels(self, data_dir: StrPath) -> list[str]:
        """Returns the names of the tags. Raises the same errors as `read_set`.

        Also raises a ValueError if the train set contains no entity.
        """
        if self._labels is None:
            examples = self.read_set(data_dir, "train")
            tags = {tag for example in examples for tag in example.labels}
            if examples[0].text is not None:
                # Add the I- tag of each type, because other sets may contain
                # longer entities.
                tags |= {tag.replace("B-", "I-", 1) for tag in tags}
            if tags == {"O"}:
                raise ValueError(
                    f"the only tag of the train set in {data_dir} is O; mark "
                    "the entities to learn, with tags such as B-PER and I-PER"
                )
            self._labels = ["O", *sorted(tags - {"O"})]
        return self._labels

    def read_set(self, data_dir: StrPath, name: str) -> list[NerExample]:
        """Returns the examples of the set "train", "dev" or "test"."""
        path = find_set_file(data_dir, name, _SET_FILES[name])
        if path.removesuffix(".gz").endswith((".json", ".jsonl")):
            return self._read_spans(path, name)
        sentences = [*_read_sentences(path, self._label_column)]
        if not sentences:
            raise ValueError(f"{path} contains no sentence")
        width = len(sentences[0][1][0][1])
        are_cut = width > 1 or not all(
            _OTHER_COLUMNS.fullmatch(columns[0])
            for _, lines in sentences
            for _, columns in lines
        )
        text_column = self._checked(path, "text_column", width)
        # A test set may lack the tags.
        label_column = self._checked(
            path, "label_column", width, needed=name != "test"
        )
        if self._label_column is None and width > 1:
            label_column = width
        elif not are_cut or (label_column is None and name != "test"):
            raise ValueError(
                f"{path}: a line must contain a word and its tag, separated by "
                "a tab or blanks; this file has only one column"
            )
        if text_column is None:
            text_column = 2 if label_column == 1 else 1
        if text_column == label_column:
            raise ValueError(
                f"{path}: column {text_column} cannot contain both the words "
                "and the tags; set another --text_column or --label_column"
            )
        examples: list[NerExample] = []
        for document, lines in sentences:
            words = [columns[text_column - 1] for _, columns in lines]
            if "" in words:
                number = lines[words.index("")][0]
                raise ValueError(f"{path}, line {number}: the word is missing")
            tags = ["O"] * len(lines)
            if label_column:
                tags = [
                    _check_tag(columns[label_column - 1], f"{path}, line {n}")
                    for n, columns in lines
                ]
            tags = self._convert(tags, [f"{path}, line {n}" for n, _ in lines])
            guid = f"{name}-{len(examples) + 1}"
            examples.append(NerExample(guid, words, tags, document))
        first = examples[0].words
        if (
            self._text_column is None
            and width > 1
            and _are_indexes([example.words for example in examples], width)
        ):
            raise ValueError(
                f"{path}: the first column contains numbers, or one value in "
                f"each sentence, instead of words, such as {first[:3]}; set "
                "--text_column to the number of the words' column, such as 2"
            )
        if width > 2:
            logging.info(
                "%s: words are in column %d, tags in column %s, of %d columns",
                *(path, text_column, label_column, width),
            )
        return examples

    def _read_spans(self, path: str, name: str) -> list[NerExample]:
        """Reads the examples of a file of spans."""
        for flag in ("text_column", "label_column"):
            if column := getattr(self, f"_{flag}"):
                raise ValueError(
                    f"--{flag}={column} is for files with columns, but {path} "
                    "contains texts with spans; remove the flag"
                )
        examples: list[NerExample] = []
        for each in spans.read(path, self._split_words, name != "test"):
            tags = self._convert(each.tags, [each.where] * len(each.tags))
            words = [each.text[start:end] for start, end in each.places]
            number = len(examples) + 1
            guid = f"{name}-{number}"
            examples.append(
                NerExample(guid, words, tags, number, each.text, each.places)
            )
        if not examples:
            raise ValueError(f"{path} contains no text with an annotation")
        return examples

    def _convert(self, tags: list[str], where: list[str]) -> list[str]:
        """Converts tags to the scheme of the labels, and checks them.

        `where` contains, for each tag, the start of an error message.
        """
        tags = to_scheme(tags, self._labels or ())
        for tag, place in zip(tags, where, strict=True):
            if self._labels is not None and tag not in self._labels:
                raise ValueError(
                    f"{place}: unknown tag {tag!r}; the tags are {self._labels}"
                )
        return tags

    def _checked(
        self, path: StrPath, flag: str, width: int, needed: bool = True
    ) -> int | None:
        """Returns the column number that a flag sets, or None without the flag.

        If the file has fewer columns, returns None, or raises a ValueError if
        the column is `needed`.
        """
        column = getattr(self, f"_{flag}")
        if column is None or column <= width:
            return column
        if needed:
            raise ValueError(
                f"--{flag}={column} does not exist: the lines of {path} have "
                f"{width} columns"
            )
        return None


def _are_indexes(sentences: list[list[str]], width: int) -> bool:
    """Returns whether a column contains numbers of words or of sentences.

    `sentences` are the cells of the column, and `width` is the number of
    columns in the file.
    """
    are_numbers = all(
        re.search(r"\d", word) for words in sentences for word in words
    )
    # In a file of two columns, the column without tags contains the words.
    are_same = width > 2 and all(len({*words}) == 1 for words in sentences)
    return are_numbers or (are_same and max(map(len, sentences)) > 1)


def _read_sentences(
    path: StrPath, label_column: int | None
) -> Iterator[tuple[int, list[tuple[int, list[str]]]]]:
    """Yields (number of the document, [(line number, columns)])."""
    lines = [
        (number, line.removeprefix("\ufeff").rstrip("\r"))
        for number, line in text_files.read_numbered(path)
    ]
    # The first line with a word determines the layout. # may be a word.
    words = [
        line
        for _, line in lines
        if line.strip(_BLANKS) and not line.startswith(_DOCUMENT)
    ]
    if not words:
        return
    first = next((line for line in words if line[0] != "#"), words[0])
    separator = "\t" if "\t" in first.rstrip(_BLANKS) else None
    width = len(_cut(first, separator))
    document = 0
    sentence: list[tuple[int, list[str]]] = []
    for number, line in lines:
        columns = _cut(line, separator)
        # The words need not be in the first column.
        is_document = any(cell.startswith(_DOCUMENT) for cell in columns)
        if columns and not is_document:
            tag = columns[min(label_column or width, len(columns)) - 1]
            # A comment may by chance have the same number of columns.
            is_comment = columns[0] == "#" and width > 1 and not sentence
            if is_comment and not _TAG.fullmatch(tag):
                continue
            if len(columns) == width:
                sentence.append((number, columns))
            elif not line.startswith("#"):
                raise ValueError(
                    f"{path}, line {number}: the line has {len(columns)} "
                    f"columns, but the first line has {width}, separated by "
                    f"{'tabs' if separator else 'blanks'}. "
                    f"Received: {line[:80]!r}"
                )
            continue
        if sentence:
            yield document, sentence
            sentence = []
        document += is_document
    if sentence:
        yield document, sentence


def _cut(line: str, separator: str | None) -> list[str]:
    """Returns the columns of a line, or [] if it only contains white space.

    Only tabs or blanks separate columns. Other white space, such as a no-break
    space, belongs to the word. Between tabs, a word may be a blank.
    """
    if not line.strip(_BLANKS):
        return []
    if separator is None:
        return re.findall(f"[^{_BLANKS}]+", line)
    cells = line.rstrip("\t").split(separator)
    return [cell.strip(" ") or cell for cell in cells]


def _check_tag(tag: str, where: str) -> str:
    """Returns a tag, or raises a ValueError if the tag is malformed."""
    if not _TAG.fullmatch(tag):
        raise ValueError(
            f"{where}: a tag must be O, or B, I, E, S, L, U or M (the schemes "
            "IOB, IOE, IOBES, BILOU and BMES), with a type after a hyphen, as "
            f"in B-PER. Received: {tag!r}. If the tags are in another column, "
            "set --label_column. If this is a line of column names, remove it"
        )
    return tag
