"""Reads sentences with tagged words from files of columns.

    Anna B-PER        Sentence #,Word,POS,Tag
    left O            Sentence: 1,Anna,NNP,B-PER
                      ,left,VBD,O

On the left is the layout of CoNLL-2003, without names of columns. On the right
is a table, whose first line names its columns. conll_layouts.py guesses the
layout, conll_sentences.py finds the sentences, and conll_columns.py chooses the
columns of the words and of the tags.
"""

import re
from collections.abc import Iterator

from data.io import text_files
from data.ner.conll_columns import ConllColumns
from data.ner.conll_layouts import guess_layout
from data.ner.conll_sentences import SentenceSplitter
from data.ner.ner_examples import NerExample
from data.ner.ner_options import ConllFileOptions
from data.tables import workbooks
from data.tables.table_layout import (
    DEFAULT_LAYOUT,
    Delimiter,
    TableLayout,
    format_of,
)


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
    is_test = options.is_test
    lines, delimiter = _read_lines(path, table_layout)
    layout = guess_layout(path, lines, delimiter, is_test=is_test)
    splitter = SentenceSplitter(path, layout, options.tag_column_index)
    sentences = splitter.split(lines)
    columns = ConllColumns(path, sentences, layout, options)
    columns.check()
    for document_index, sentence_lines in sentences:
        pairs = [*map(columns.read_word, sentence_lines)]
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
