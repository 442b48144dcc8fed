"""Reads sentences with tagged words from files of columns.

    Anna B-PER        Sentence #,Word,POS,Tag
    left O            Sentence: 1,Anna,NNP,B-PER
                      ,left,VBD,O

On the left is the layout of CoNLL-2003, without names of columns. On the right
is a table, whose first line names its columns.
"""

import ast
import csv
import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from data.io import text_files
from data.ner.column_layouts import (
    DOCUMENT,
    ColumnLayout,
    cut,
    find_layout,
    strip_cells,
)
from data.ner.sentence_windows import NerExample
from data.ner.tag_names import is_tag, name_tags
from data.tables import dialects, tables, workbooks

# (number of the line, columns) of each word of a sentence.
_Lines = list[tuple[int, list[str]]]
# (number of the sentence's document, its lines).
_Sentence = tuple[int, _Lines]


@dataclasses.dataclass(frozen=True)
class ColumnOptions:
    """Options for reading a file of columns. The first column is 0.

    Attributes:
        words_at: index of the column of the words, None if no flag tells it.
        tags_at: index of the column of the tags, None if no flag tells it.
        labels: the tags of --labels or of the model, [] if they are unknown.
        name: "train", "dev" or "test".
    """

    words_at: int | None
    tags_at: int | None
    labels: Sequence[str]
    name: str


def read(
    path: str,
    options: ColumnOptions,
    written: tables.Layout = tables.DEFAULT_LAYOUT,
) -> Iterator[NerExample]:
    """Yields the sentences of a file. The `guid` is the first line of each.

    An empty line ends a sentence. In a table with a column of sentences, a new
    sentence begins where this column changes, or if it has empty cells, where
    it is filled. A table may also contain a sentence in each row, with lists of
    its words and tags. A sheet of Excel is read as a file of tabs.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is malformed, or no column contains tags.
    """
    is_test = options.name == "test"
    if tables.format_of(path) == "xlsx":
        lines = [*_lines_of_sheet(path, written.sheet)]
        delimiter: str | None = "tab"
    else:
        lines = [*text_files.read_numbered(path, written.encoding)]
        delimiter = written.delimiter
    layout = find_layout(path, lines, is_test, delimiter)
    sentences = _find_sentences(path, lines, layout, options)
    rows = (cells for _, words in sentences for _, cells in words)
    # The cells of each column.
    values = [*zip(*rows, strict=True)]
    words_at, tags_at = _find_columns(path, values, layout, options)
    if layout.words_at is None and options.words_at is None:
        _check_words(path, sentences, words_at, len(values))
    if tags_at is not None and options.tags_at is None:
        # Words may look like tags: B-DNA is a form of DNA.
        _check_nested(path, values, words_at, tags_at)
    language = _find_language(values[words_at], len(sentences))
    tags = {"": "O"}
    if tags_at is not None:
        counts = Counter(values[tags_at])
        is_train = options.name == "train"
        tags = name_tags(path, counts, options.labels, is_train)
    for document, lines_of in sentences:
        words = []
        labels = []
        for number, cells in lines_of:
            word = cells[words_at]
            tag = "" if tags_at is None else cells[tags_at]
            if not word or tag not in tags:
                raise ValueError(
                    f"{path}, line {number}: the word is {word!r}, and its tag "
                    f"is {tag!r}, but a tag is such as O, B-PER or I-PER. Set "
                    "--label_column, or remove a line of column names"
                )
            words.append(word.removeprefix(language) or word)
            labels.append(tags[tag])
        row = None if is_test else {"labels": labels}
        guid = f"line {lines_of[0][0]}"
        yield NerExample(guid, words, labels, document, row=row)


def _lines_of_sheet(path: str, sheet: str | None) -> Iterator[tuple[int, str]]:
    """Yields the rows of a workbook as lines of a file of tabs.

    An empty row ends a sentence, as an empty line does.
    """
    last = 0
    for number, cells in workbooks.read_sheet(path, sheet, empty_is_gap=True):
        if number > last + 1:
            yield number - 1, ""
        last = number
        yield number, "\t".join(re.sub(r"\s", " ", cell) for cell in cells)


def _find_sentences(
    path: str,
    lines: Sequence[tuple[int, str]],
    layout: ColumnLayout,
    options: ColumnOptions,
) -> list[_Sentence]:
    # Empty lines, a row each, or a column tell where a sentence ends.
    sentences = [*_read_sentences(path, lines, layout, options.tags_at)]
    lists_at = _find_lists(sentences, layout, options)
    if lists_at is not None:
        return [*_expand(path, sentences, *lists_at)]
    if layout.sentence_at is not None:
        return [*_part(sentences, layout.sentence_at)]
    return sentences


def _read_sentences(
    path: str,
    lines: Sequence[tuple[int, str]],
    layout: ColumnLayout,
    tags_at: int | None,
) -> Iterator[_Sentence]:
    """Yields the lines between empty lines.

    `tags_at` is the user's choice.
    """
    document = 0
    sentence: _Lines = []
    for number, line, cells in _cut_lines(path, lines, layout):
        # Check all columns, because the first one need not contain the words.
        is_document = any(cell.startswith(DOCUMENT) for cell in cells)
        if is_document or not cells:
            if sentence:
                yield document, sentence
                sentence = []
            if is_document:
                document += 1
        elif layout.names and cells == layout.names:
            # Files that were joined repeat the names.
            continue
        elif _is_comment(line, cells, layout, not sentence, tags_at):
            continue
        elif len(cells) != layout.width:
            raise ValueError(
                f"{path}, line {number}: the line has {len(cells)} columns, "
                f"but the first line has {layout.width}. Received: "
                f"{line[:80]!r}"
            )
        else:
            sentence.append((number, cells))


def _is_comment(
    line: str,
    cells: Sequence[str],
    layout: ColumnLayout,
    begins_sentence: bool,
    tags_at: int | None,
) -> bool:
    # A table has no comments.
    if layout.names:
        return False
    if line.startswith("#") and len(cells) != layout.width:
        return True
    # A line that starts with "# " or "## " may precede a sentence as a comment.
    # It may have as many columns as a word's line, but contains no tag.
    if not begins_sentence or layout.width < 2:
        return False
    last = len(cells) - 1
    tag = cells[last if tags_at is None else min(tags_at, last)]
    return bool(re.match("#+( |$)", cells[0])) and not is_tag(tag)


def _cut_lines(
    path: str, lines: Sequence[tuple[int, str]], layout: ColumnLayout
) -> Iterator[tuple[int, str, list[str]]]:
    # Yields (number, line, its cells), and an empty line after the last one.
    separator = layout.separator
    if layout.names and separator and separator != "\t":
        yield from _parse_records(path, lines, separator)
    else:
        for number, line in lines:
            cells = cut(line, separator)
            if layout.names and cells:
                # `cut` leaves out empty cells at the end.
                cells += [""] * (layout.width - len(cells))
            yield number, line, cells
    yield 0, "", []


def _parse_records(
    path: str, lines: Sequence[tuple[int, str]], separator: str
) -> Iterator[tuple[int, str, list[str]]]:
    # Yields (number, line, its cells) of a table, in which a quoted cell may
    # contain line breaks.
    chosen = dialects.ChosenDialect(separator)
    ended = (f"{line}\n" for _, line in lines)
    found = dialects.find_dialect(path, ended, chosen, is_tsv=False)
    reader = dialects.csv_reader(found.lines, found.dialect)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if cells is None:
            return
        if found.dialect.escapes:
            cells = dialects.show_escaped(cells)
        cells = strip_cells(cells)
        yield number, separator.join(cells), cells if any(cells) else []


def _part(sentences: Sequence[_Sentence], at: int) -> Iterator[_Sentence]:
    # Parts the lines where the column `at` begins a new sentence.
    # pandas may write an empty cell as NaN.
    every = {cells[at] for _, lines in sentences for _, cells in lines}
    empty = {value for value in every if value.lower() in ("", "nan")}
    for document, lines in sentences:
        part: _Lines = []
        for number, cells in lines:
            value = cells[at]
            is_other = empty or not part or value != part[-1][1][at]
            if part and is_other and value not in empty:
                yield document, part
                part = []
            part.append((number, cells))
        yield document, part


def _find_lists(
    sentences: Sequence[_Sentence], layout: ColumnLayout, options: ColumnOptions
) -> tuple[int, int] | None:
    # If each row of a table contains a sentence, as its first row does, returns
    # the indexes of the columns with the sentence's words and with its tags. If
    # the user chose the column of the tags, each row contains a word.
    words_at, tags_at = layout.words_at, layout.tags_at
    if words_at is None or tags_at is None or options.tags_at is not None:
        return None
    if not sentences:
        return None
    _, ((_, cells), *_) = sentences[0]
    num_words = len(cells[words_at].split())
    num_tags = len(_read_tags(cells[tags_at]))
    is_list = cells[tags_at].startswith("[") or num_tags == num_words > 1
    return (words_at, tags_at) if is_list else None


def _read_words(cell: str) -> list[str]:
    # Returns the words of a cell, [] if it begins a list but cannot be read.
    if not cell.startswith("["):
        return cell.split()
    try:
        return [*map(str, ast.literal_eval(cell))]
    except (SyntaxError, ValueError):
        return []


def _read_tags(cell: str) -> list[str]:
    # A tag contains no space, comma or quote.
    return re.findall(r"[^\s,'\"\[\]]+", cell)


def _expand(
    path: str, sentences: Sequence[_Sentence], words_at: int, tags_at: int
) -> Iterator[_Sentence]:
    # Yields a sentence for each row, whose cells contain its words and tags.
    for document, lines in sentences:
        for number, cells in lines:
            words = _read_words(cells[words_at])
            tags = _read_tags(cells[tags_at])
            if len(words) != len(tags):
                raise ValueError(
                    f"{path}, line {number}: {len(tags)} tags do not fit the "
                    f"words {cells[words_at][:120]!r}. Write a word and its "
                    "tag per line, or JSON lines with `tokens` and `ner_tags`"
                )
            sentence = []
            for word, tag in zip(words, tags, strict=True):
                row = [*cells]
                row[words_at], row[tags_at] = word, tag
                sentence.append((number, row))
            if sentence:
                yield document, sentence


def _find_columns(
    path: str,
    values: Sequence[Sequence[str]],
    layout: ColumnLayout,
    options: ColumnOptions,
) -> tuple[int, int | None]:
    # Returns the indexes of the columns of the words and of the tags, None in a
    # test set without tags. What the user chose counts more than the names.
    width = len(values)
    tags_at = _first_known(options.tags_at, layout.tags_at)
    is_test = options.name == "test"
    if tags_at is None and not (is_test and layout.names):
        may_be_first = options.words_at is None
        tags_at = 0 if may_be_first and _is_first(values) else width - 1
    if is_test and tags_at is not None and (width == 1 or tags_at >= width):
        tags_at = None
    words_at = _first_known(options.words_at, layout.words_at)
    if words_at is None:
        words_at = 1 if tags_at == 0 else 0
    is_missing = max(words_at, tags_at or 0) >= width
    if words_at == tags_at or is_missing:
        expected = f"the words are expected in column {words_at + 1}"
        if tags_at is not None:
            expected += f" and the tags in column {tags_at + 1}"
        raise ValueError(
            f"{path}: a line must contain a word and its tag, separated by a "
            f"tab or spaces. The lines have {width} columns, but {expected}. "
            "Set --text_column and --label_column"
        )
    return words_at, tags_at


def _first_known(*indexes: int | None) -> int | None:
    return next((index for index in indexes if index is not None), None)


def _is_first(values: Sequence[Sequence[str]]) -> bool:
    """Returns whether the first column contains the tags, not the last one."""
    if len(values) < 2:
        return False
    first, last = Counter(values[0]), Counter(values[-1])
    if all(map(is_tag, first)) and "O" in first:
        return not all(map(is_tag, last))
    # Tags without B- and I- are few, and most words are outside of entities.
    (most, _), (other, _) = first.most_common(1)[0], last.most_common(1)[0]
    return most == "O" != other and len(first) < len(last)


def _check_words(
    path: str, sentences: Sequence[_Sentence], words_at: int, width: int
) -> None:
    # Checks that the column `words_at` does not contain numbers of words, or
    # one value of each sentence, unless the user chose the column.
    if width == 1:
        return
    rows = []
    for _, lines in sentences:
        rows.append([cells[words_at] for _, cells in lines])
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


def _find_language(words: Sequence[str], num_sentences: int) -> str:
    # Returns the language that PAN-X writes before each word, such as "en:".
    prefix = re.match("[a-z-]+:", words[0])
    if num_sentences < 2 or not prefix:
        return ""
    is_language = all(word.startswith(prefix.group()) for word in words)
    return prefix.group() if is_language else ""


def _check_nested(
    path: str, columns: Sequence[Sequence[str]], words_at: int, tags_at: int
) -> None:
    """Raises an error if another column uses an entity type of the tags.

    GermEval 2014 tags entities in one column, and entities nested in them in
    the next column. CoNLL-2003 passes, because its column of chunks uses types
    such as NP, which are not entity types.
    """
    types = [
        {cell[2:] for cell in column if re.match("[BIESLUM]-.", cell)}
        for column in columns
    ]
    others = [x for i, x in enumerate(types) if i not in (words_at, tags_at)]
    if both := types[tags_at].intersection(itertools.chain(*others)):
        raise ValueError(
            f"{path}: two columns contain tags of the type {min(both)}. Set "
            "--label_column to the column to learn"
        )
