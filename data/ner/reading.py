"""Reads sentences with tagged words, or texts with spans of named entities."""

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from absl import logging

from command_line import flags
from data.io import text_files
from data.io.dev_split import DataFileOptions, SetReader
from data.io.row_keys import key_of
from data.ner import spans
from data.ner.scoring import to_scheme
from data.ner.sentence_windows import NerExample
from files.paths import StrPath
from modeling.labels import check_labels

_DOCUMENT = "-DOCSTART-"
_BLANKS = " \t"
_TAG = re.compile("O|[BIESLUM](-.+)?")
# Tags of a scheme, and column names. Neither are types of entities.
_NO_TYPE = re.compile("[BIESLUM](-.+)?|(?i:(ner_?)?(tag|label)s?|ner)")


@dataclasses.dataclass(frozen=True, kw_only=True)
class NerOptions:
    """Options for reading tagged words: their columns and their tags."""

    labels: Sequence[str] | None = flags.head(
        None,
        "The tags in the order of the model's outputs, comma-separated. The "
        "default is the tags of the train set, O first. Without training, it "
        "is the tags that the model was trained with.",
    )
    text_column: int | None = flags.training(
        None,
        "Number of the column that contains the words. The default is 1, the "
        "first column, or 2 if the first column contains the tags.",
        at_least=1,
    )
    label_column: int | None = flags.training(
        None,
        "Number of the column that contains the tags. The first column is 1. "
        "The default is the last column.",
        at_least=1,
    )
    document_context: bool = flags.head(
        False,
        "Use whole documents as context, as in the paper, instead of single "
        "sentences.",
    )


class NerProcessor(SetReader[NerExample, NerOptions]):
    """Reads the sets of a task with named entities.

    Files named .json and .jsonl contain texts with spans, as spans.py
    describes. Other files are in the layout of CoNLL-2003: a line contains a
    word and its tag in columns. Tabs separate the columns if the first line
    contains a tab. Otherwise, spaces separate them. An empty line ends a
    sentence, and a line with -DOCSTART- begins a document. Comments begin with
    #. All other lines contain the same number of columns. In a test set, the
    column of the tags may be missing.

    Tags may be in any scheme that scoring.py describes, such as the IOB1 of
    CoNLL-2003, or only types, such as PER. They are converted to IOB2, or to
    the scheme of --labels.

    Raises:
        ValueError: --labels names fewer than two labels, or a label twice.
    """

    file_names: ClassVar[Mapping[str, Sequence[str]]] = {
        "train": ("train.txt", "eng.train", "train.jsonl", "train.json"),
        "dev": (
            "valid.txt",
            "dev.txt",
            "eng.testa",
            "dev.jsonl",
            "dev.json",
            "valid.jsonl",
            "valid.json",
        ),
        "test": ("test.txt", "eng.testb", "test.jsonl", "test.json"),
    }

    def __init__(
        self,
        data_dir: StrPath | None,
        data: DataFileOptions,
        options: NerOptions,
    ) -> None:
        super().__init__(data_dir, data, options)
        self._labels = [*options.labels] if options.labels else None
        if self._labels is not None:
            check_labels(self._labels, "--labels", fewest=2)

    def labels(self) -> list[str]:
        """Returns the names of the tags, from --labels or the train set.

        Raises:
            OSError: --labels is not set, and the train set cannot be read.
            ValueError: the train set is malformed, or contains no entity.
        """
        if self._labels is None:
            # --data_file was split, and its dev set may have more tags.
            examples = [*self.look_at("train"), *self._sets.get("dev", [])]
            tags = {tag for example in examples for tag in example.labels}
            if examples[0].text is not None:
                # For each B- tag add the I- tag, because entities of this type
                # may have several words only in the dev and test sets.
                tags |= {tag.replace("B-", "I-", 1) for tag in tags}
            if tags == {"O"}:
                raise ValueError(
                    f"{self._source}: the only tag in the train set is O. "
                    "Tag the words of the named entities"
                )
            self._labels = ["O", *sorted(tags - {"O"})]
        return self._labels

    def read_file(self, path: StrPath, name: str) -> list[NerExample]:
        """Reads the set `name` from a file."""
        path = str(path)
        options = self._options
        if path.removesuffix(".gz").endswith((".json", ".jsonl")):
            examples = [*spans.read(path, needs_spans=name != "test")]
        else:
            examples = [*_read_columns(path, options, name == "test")]
        if not examples:
            raise ValueError(f"{path} contains no sentence or annotated text")
        if options.document_context and not examples[-1].document:
            raise ValueError(
                f"--document_context needs lines -DOCSTART-. {path} has none"
            )
        # {tag: place where it first occurs}
        tags: dict[str, str] = {}
        for number, example in enumerate(examples, start=1):
            example.labels = to_scheme(example.labels, self._labels or ())
            for tag in example.labels:
                tags.setdefault(tag, example.guid)
            if not self._data.data_file:
                example.guid = f"{name}-{number}"
        self._check_known(path, name, tags)
        return examples

    def _check_known(
        self, path: str, name: str, tags: Mapping[str, str]
    ) -> None:
        # Raises a ValueError or warns if a set contains tags that are not among
        # the labels. `tags` is {tag: place where it first occurs}.
        known = self._labels
        unknown = [tag for tag in tags if known and tag not in known]
        if not unknown:
            return
        where = f"{path}, {tags[unknown[0]]}"
        message = f"{where}: unknown tag {unknown[0]!r}. Known are {known}"
        # A warning suffices for a dev or test set, unless all its tags except O
        # are unknown.
        if name == "train" or {*unknown} >= tags.keys() - {"O"}:
            raise ValueError(message)
        logging.warning(
            "%s. In the scores, words tagged %s count as errors.",
            message,
            ", ".join(unknown),
        )

    def texts_of(self, example: NerExample) -> list[str]:
        """Returns the words as one text."""
        return [" ".join(example.words)]

    def labels_of(self, example: NerExample) -> list[str]:
        """Returns the types of the sentence's entities, each once."""
        return sorted({tag[2:] or tag for tag in example.labels} - {"O"})

    @property
    def key_names(self) -> list[str]:
        """Whether a sentence or the whole document is kept together."""
        return ["document" if self._options.document_context else "words"]

    def split_keys(self, examples: Sequence[NerExample]) -> list[str]:
        """Returns the words, or with --document_context the document's."""
        if not self._options.document_context:
            return super().split_keys(examples)
        # {number of a document: its sentences}
        texts: dict[int, list[str]] = {}
        for each in examples:
            texts.setdefault(each.document, []).extend(self.texts_of(each))
        keys = {
            number: key_of([" ".join(sentences)])
            for number, sentences in texts.items()
        }
        return [keys[each.document] for each in examples]


# (number of a sentence's document, [(number of the line, columns) of a word]).
_Sentence = tuple[int, list[tuple[int, list[str]]]]


def _read_columns(
    path: str, options: NerOptions, is_test: bool
) -> Iterator[NerExample]:
    sentences = [*_read_sentences(path, options.label_column)]
    rows = (cells for _, lines in sentences for _, cells in lines)
    columns = [*zip(*rows, strict=True)]
    width = len(columns)
    tags_at = options.label_column or width
    if is_test and (width == 1 or tags_at > width):
        tags_at = 0  # A test set without tags.
    words_at = options.text_column or (2 if tags_at == 1 else 1)
    if words_at == tags_at or max(words_at, tags_at) > width:
        raise ValueError(
            f"{path}: a line must contain a word and its tag, separated by a "
            f"tab or spaces. The lines have {width} columns, but the words are "
            f"expected in column {words_at} and the tags in column {tags_at}. "
            "Set --text_column and --label_column"
        )
    _check_words(path, options, sentences, words_at, width)
    if tags_at and not options.label_column:
        # Words may look like tags: B-DNA is a form of DNA.
        _check_nested(path, [*columns[: words_at - 1], *columns[words_at:]])
    every_word = columns[words_at - 1]
    language = _find_language(every_word) if len(sentences) > 1 else ""
    # Tags without a scheme, such as PER, are the types of words. Successive
    # words of one type are an entity, as in IOB1.
    tags = {*columns[tags_at - 1]} if tags_at else {"O"}
    is_typed = "O" in tags and not any(map(_NO_TYPE.fullmatch, tags - {"O"}))
    for document, lines in sentences:
        words = []
        labels = []
        for number, cells in lines:
            word = cells[words_at - 1]
            tag = cells[tags_at - 1] if tags_at else "O"
            label = f"I-{tag}" if is_typed and tag != "O" else tag
            if not word or not _TAG.fullmatch(label):
                raise ValueError(
                    f"{path}, line {number}: the word is {word!r}, and its tag "
                    f"is {tag!r}, but a tag is such as O, B-PER or I-PER. Set "
                    "--label_column, or remove a line of column names"
                )
            words.append(word.removeprefix(language) or word)
            labels.append(label)
        row = None if is_test else {"labels": labels}
        yield NerExample(
            f"line {lines[0][0]}", words, labels, document, row=row
        )


def _check_words(
    path: str,
    options: NerOptions,
    sentences: Sequence[_Sentence],
    words_at: int,
    width: int,
) -> None:
    # Checks that the column `words_at` does not contain numbers of words, or
    # one value of each sentence, unless the user chose the column.
    if options.text_column or width == 1:
        return
    rows = []
    for _, lines in sentences:
        rows.append([cells[words_at - 1] for _, cells in lines])
    every_word = [word for words in rows for word in words]
    if all(re.search(r"\d", word) for word in every_word):
        raise ValueError(
            f"{path}: the words, such as {every_word[:3]}, all contain a "
            "digit. Remove the digits, or set --text_column to the column of "
            "the words, even if it is this one"
        )
    # In a file of two columns, the column beside the tags contains the words.
    has_others = width > 2 and len(every_word) > len(sentences)
    if has_others and all(len({*words}) == 1 for words in rows):
        raise ValueError(
            f"{path}: all words of a sentence are the same, such as "
            f"{every_word[0]!r}. Set --text_column to the column of the words"
        )


def _find_language(words: Sequence[str]) -> str:
    # Returns the language that PAN-X writes before each word, such as "en:".
    prefix = re.match("[a-z-]+:", words[0])
    if prefix and all(word.startswith(prefix.group()) for word in words):
        return prefix.group()
    return ""


def _check_nested(path: str, columns: Sequence[Sequence[str]]) -> None:
    # Raises an error if another column uses an entity type of the last column.
    # GermEval 2014 tags entities in one column, and entities nested in them in
    # the next column. CoNLL-2003 passes, because its column of chunks uses
    # types such as NP, which are not entity types.
    *others, last = (
        {cell[2:] for cell in column if re.match("[BIESLUM]-.", cell)}
        for column in columns
    )
    if both := last.intersection(itertools.chain(*others)):
        raise ValueError(
            f"{path}: two columns contain tags of the type {min(both)}. Set "
            "--label_column to the column to learn"
        )


def _read_sentences(path: str, label_column: int | None) -> Iterator[_Sentence]:
    lines = [*text_files.read_numbered(path)]
    # The first line that contains a word and does not begin with # determines
    # the layout. If all lines begin with #, then # is a word, not a comment.
    words = (x for _, x in lines if x.strip(_BLANKS) and x[:10] != _DOCUMENT)
    first = min(words, key=lambda line: line[0] == "#", default="")
    separator = "\t" if "\t" in first.rstrip(_BLANKS) else None
    width = len(_cut(first, separator))
    document = 0
    sentence: list[tuple[int, list[str]]] = []
    for number, line in [*lines, (0, "")]:
        cells = _cut(line, separator)
        # Check all columns, because the first one need not contain the words.
        if not cells or any(cell.startswith(_DOCUMENT) for cell in cells):
            if sentence:
                yield document, sentence
                sentence = []
            if cells:
                document += 1
            continue
        # A line that starts with "# " or "## " may precede a sentence as a
        # comment. It may have as many columns as a word's line, but contains no
        # tag.
        begins = not sentence and width > 1 and re.match("#+( |$)", cells[0])
        tag = cells[min(label_column or width, len(cells)) - 1]
        if begins and not _TAG.fullmatch(tag):
            continue
        if len(cells) != width:
            if line.startswith("#"):
                continue
            raise ValueError(
                f"{path}, line {number}: the line has {len(cells)} columns, "
                f"but the first line has {width}. Received: {line[:80]!r}"
            )
        sentence.append((number, cells))


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
