"""Reads sentences with tagged words from files of columns.

    Anna B-PER        Sentence #,Word,POS,Tag
    left O            Sentence: 1,Anna,NNP,B-PER
                      ,left,VBD,O

On the left is the layout of CoNLL-2003, without names of columns. On the right
is a table, whose first line names its columns. conll_layouts.py guesses the
layout, and conll_sentences.py finds the sentences. Then this module chooses the
columns of the words and of the tags.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from data.io import text_files
from data.ner.conll_layouts import ConllLayout, guess_layout
from data.ner.conll_sentences import (
    ConllLine,
    SentenceLines,
    SentenceSplitter,
)
from data.ner.ner_examples import NerExample
from data.ner.ner_options import ConllFileOptions
from data.ner.tag_names import is_tag, name_tags
from data.tables import workbooks
from data.tables.table_layout import (
    DEFAULT_LAYOUT,
    Delimiter,
    TableLayout,
    format_of,
)


class _ReadingPlan(NamedTuple):
    """The columns of the words and the tags of a file, and what cells mean.

    Attributes:
        word_column_index: column of the words.
        tag_column_index: column of the tags, None in a test set without tags.
        language: what is before each word, such as "en:", or "".
        tag_of_cell: {cell of the column of the tags: its tag}, {"": "O"} for a
            file without tags.
    """

    word_column_index: int
    tag_column_index: int | None
    language: str
    tag_of_cell: Mapping[str, str]


def read_conll_file(
    path: str,
    options: ConllFileOptions,
    table_layout: TableLayout = DEFAULT_LAYOUT,
) -> Iterator[NerExample]:
    """Yields the sentences of a file. Their `place_in_file` is the first line.

    An empty line ends a sentence. In a table with a column of sentences, a new
    sentence begins where this column changes, or if it has empty cells, where
    it is filled. A table may also contain a sentence in each row, with lists of
    its words and tags. A sheet of Excel is read as a file of tabs.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is malformed, or no column contains tags.
    """
    is_test = options.set_name == "test"
    lines, delimiter = _read_lines(path, table_layout)
    layout = guess_layout(path, lines, delimiter, is_test=is_test)
    splitter = SentenceSplitter(path, layout, options.tag_column_index)
    sentences = splitter.split(lines)
    plan = _plan_reading(path, sentences, layout, options)
    for document_index, sentence_lines in sentences:
        pairs = [_read_word(path, line, plan) for line in sentence_lines]
        words = [word for word, _ in pairs]
        tags = [tag for _, tag in pairs]
        row = None if is_test else {"labels": tags}
        place_in_file = f"line {sentence_lines[0].line_number}"
        yield NerExample(place_in_file, words, tags, document_index, row=row)


def _read_lines(
    path: str, table_layout: TableLayout
) -> tuple[list[tuple[int, str]], Delimiter | None]:
    """Returns ([(number, line)], the delimiter if it is known)."""
    if format_of(path) == "xlsx":
        return [*_lines_of_sheet(path, table_layout.sheet)], "tab"
    lines = text_files.read_numbered_lines(path, table_layout.encoding)
    return [*lines], table_layout.delimiter


def _lines_of_sheet(path: str, sheet: str | None) -> Iterator[tuple[int, str]]:
    """Yields the rows of a workbook as lines of a file of tabs.

    An empty row ends a sentence, as an empty line does.
    """
    last = 0
    for row_number, cells in workbooks.read_sheet(path, sheet, has_gaps=True):
        if row_number > last + 1:
            yield row_number - 1, ""
        last = row_number
        yield row_number, "\t".join(re.sub(r"\s", " ", cell) for cell in cells)


def _plan_reading(
    path: str,
    sentences: Sequence[SentenceLines],
    layout: ConllLayout,
    options: ConllFileOptions,
) -> _ReadingPlan:
    """Chooses the columns of words and tags, and checks their cells."""
    rows = (line.cells for sentence in sentences for line in sentence.lines)
    columns = [*zip(*rows, strict=True)]
    tag_column_index = _choose_tag_column(columns, layout, options)
    word_column_index = _choose_word_column(tag_column_index, layout, options)
    _check_width(path, len(columns), word_column_index, tag_column_index)
    if layout.word_column_index is None and options.word_column_index is None:
        _check_words(path, sentences, word_column_index, len(columns))
    if tag_column_index is not None and options.tag_column_index is None:
        # Words may look like tags: B-DNA is a form of DNA.
        _check_nested(path, columns, word_column_index, tag_column_index)
    return _ReadingPlan(
        word_column_index=word_column_index,
        tag_column_index=tag_column_index,
        language=_guess_language(columns[word_column_index], len(sentences)),
        tag_of_cell=_name_tags_of_column(
            path, columns, tag_column_index, options
        ),
    )


def _choose_tag_column(
    columns: Sequence[Sequence[str]],
    layout: ConllLayout,
    options: ConllFileOptions,
) -> int | None:
    """Returns the index of the column of the tags.

    The index is None in a test set without tags. The user's choice counts more
    than the names of the columns.
    """
    width = len(columns)
    is_test = options.set_name == "test"
    tag_column_index = _first_index(
        options.tag_column_index, layout.tag_column_index
    )
    if tag_column_index is None:
        if is_test and layout.names:
            return None
        may_be_first = options.word_column_index is None
        is_first = may_be_first and _are_tags_first(columns)
        tag_column_index = 0 if is_first else width - 1
    has_tags = width > 1 and tag_column_index < width
    return None if is_test and not has_tags else tag_column_index


def _are_tags_first(columns: Sequence[Sequence[str]]) -> bool:
    """Returns whether the first column contains the tags, not the last one."""
    if len(columns) < 2:
        return False
    first, last = Counter(columns[0]), Counter(columns[-1])
    if all(map(is_tag, first)) and "O" in first:
        return not all(map(is_tag, last))
    # Tags without B- and I- are few, and most words are outside of entities.
    ((first_value, _),) = first.most_common(1)
    ((last_value, _),) = last.most_common(1)
    are_first = first_value == "O" and last_value != "O"
    return are_first and len(first) < len(last)


def _choose_word_column(
    tag_column_index: int | None,
    layout: ConllLayout,
    options: ConllFileOptions,
) -> int:
    """Returns the index of the column of the words.

    The words are in the first column that does not contain the tags, unless the
    user or the names of the columns choose another column.
    """
    word_column_index = _first_index(
        options.word_column_index, layout.word_column_index
    )
    if word_column_index is not None:
        return word_column_index
    return 1 if tag_column_index == 0 else 0


def _first_index(*indices: int | None) -> int | None:
    """Returns the first index that is not None."""
    return next((index for index in indices if index is not None), None)


def _check_width(
    path: str, width: int, word_column_index: int, tag_column_index: int | None
) -> None:
    """Checks that the lines have a column of words, and one of tags.

    Raises:
        ValueError: a column is missing, or both are the same column.
    """
    is_missing = max(word_column_index, tag_column_index or 0) >= width
    if word_column_index == tag_column_index or is_missing:
        expected = f"the words are expected in column {word_column_index + 1}"
        if tag_column_index is not None:
            expected += f" and the tags in column {tag_column_index + 1}"
        raise ValueError(
            f"{path}: a line must contain a word and its tag, separated by a "
            f"tab or spaces. The lines have {width} columns, but {expected}. "
            "Set --text_column and --label_column"
        )


def _check_words(
    path: str,
    sentences: Sequence[SentenceLines],
    word_column_index: int,
    width: int,
) -> None:
    """Raises a ValueError if the column of the words contains something else.

    The column may contain the numbers of the words, or one value for all words
    of a sentence. The function is not called for a column that the user chose.
    """
    if width == 1:
        return
    words_of_sentences = [
        [line.cells[word_column_index] for line in sentence.lines]
        for sentence in sentences
    ]
    all_words = [*itertools.chain(*words_of_sentences)]
    if all(re.search(r"\d", word) for word in all_words):
        raise ValueError(
            f"{path}: the words, such as {all_words[:3]}, all contain a "
            "digit. Remove the digits, or set --text_column to the column of "
            "the words, even if it is this one"
        )
    # In a file of two columns, the column beside the tags contains the words.
    has_others = width > 2 and len(all_words) > len(sentences)
    if has_others and all(len({*words}) == 1 for words in words_of_sentences):
        raise ValueError(
            f"{path}: all words of a sentence are the same, such as "
            f"{all_words[0]!r}. Set --text_column to the column of the words"
        )


def _check_nested(
    path: str,
    columns: Sequence[Sequence[str]],
    word_column_index: int,
    tag_column_index: int,
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
    other_types = {
        entity_type
        for index, types_of_column in enumerate(types)
        if index not in (word_column_index, tag_column_index)
        for entity_type in types_of_column
    }
    if both := types[tag_column_index] & other_types:
        raise ValueError(
            f"{path}: two columns contain tags of the type {min(both)}. Set "
            "--label_column to the column to learn"
        )


def _guess_language(words: Sequence[str], num_sentences: int) -> str:
    """Guesses the language that PAN-X writes before each word, such as "en:".

    Returns "" if the words of a file do not begin with a language.
    """
    prefix = re.match("[a-z-]+:", words[0])
    if num_sentences < 2 or not prefix:
        return ""
    is_language = all(word.startswith(prefix.group()) for word in words)
    return prefix.group() if is_language else ""


def _name_tags_of_column(
    path: str,
    columns: Sequence[Sequence[str]],
    tag_column_index: int | None,
    options: ConllFileOptions,
) -> Mapping[str, str]:
    """Returns {cell of the column of the tags: its tag}, "" for no column."""
    if tag_column_index is None:
        return {"": "O"}
    counts = Counter(columns[tag_column_index])
    is_train = options.set_name == "train"
    return name_tags(path, counts, options.labels, is_train=is_train)


def _read_word(
    path: str, line: ConllLine, plan: _ReadingPlan
) -> tuple[str, str]:
    """Returns the word and the tag of a line."""
    word = line.cells[plan.word_column_index]
    cell = (
        ""
        if plan.tag_column_index is None
        else line.cells[plan.tag_column_index]
    )
    if not word or cell not in plan.tag_of_cell:
        raise ValueError(
            f"{path}, line {line.line_number}: the word is {word!r}, and its "
            f"tag is {cell!r}, but a tag is such as O, B-PER or I-PER. Set "
            "--label_column, or remove a line of column names"
        )
    word_alone = word.removeprefix(plan.language) or word
    return word_alone, plan.tag_of_cell[cell]
