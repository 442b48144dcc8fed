"""Reads sentences with tagged words from files of columns.

    Anna B-PER        Sentence #,Word,POS,Tag
    left O            Sentence: 1,Anna,NNP,B-PER
                      ,left,VBD,O

On the left is the layout of CoNLL-2003, without names of columns. On the right
is a table, whose first line names its columns. Empty lines, the rows of a
table, or a column show where a sentence ends. conll_layout.py guesses the
layout, and conll_columns.py chooses the columns of the words and of the tags.
"""

import ast
import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from data.io import text_files
from data.io.text_files import NumberedLine
from data.ner.conll_columns import ConllLine, SentenceLines, choose_columns
from data.ner.conll_layout import (
    ConllLayout,
    guess_layout,
    split_line,
    strip_cells,
)
from data.ner.ner_examples import NerExample
from data.ner.ner_options import NerOptions
from data.ner.tag_names import is_tag
from data.sets.example_reader import SetFile
from data.tables import workbooks
from data.tables.csv_tables import MalformedRow, open_csv
from data.tables.table_layout import (
    DELIMITER_OF_CHARACTER,
    TableLayout,
    format_of,
)


def read_conll_file(file: SetFile, options: NerOptions) -> Iterator[NerExample]:
    """Yields the sentences of a file. Their `place_in_file` is the first line.

    An empty line ends a sentence. In a table with a column of sentences, a new
    sentence begins where this column changes, or if it has empty cells, where
    it is filled. A table may also contain a sentence in each row, with lists of
    its words and tags. A sheet of Excel is read as a file of tabs.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is malformed, or no column contains tags.
    """
    is_test = file.set_name == "test"
    table_layout = options.layout()
    if format_of(file.path) == "xlsx":
        table_layout = table_layout._replace(delimiter="tab")
    lines = _read_lines(file.path, table_layout)
    layout = guess_layout(
        file.path, lines, table_layout.delimiter, is_test=is_test
    )
    splitter = _SentenceSplitter(file.path, layout, options.tag_column_index)
    sentences = splitter.split(lines)
    columns = choose_columns(file, sentences, layout, options)
    for document_index, sentence_lines in sentences:
        tagged_words = [*map(columns.read_word, sentence_lines)]
        words = [tagged.word for tagged in tagged_words]
        tags = [tagged.tag for tagged in tagged_words]
        row = None if is_test else {"labels": tags}
        place_in_file = f"line {sentence_lines[0].line_number}"
        yield NerExample(place_in_file, words, tags, document_index, row=row)


def _read_lines(path: str, table_layout: TableLayout) -> list[NumberedLine]:
    """Returns the lines of a file. Tabs separate the cells of a workbook."""
    if format_of(path) == "xlsx":
        return [*_read_sheet(path, table_layout.sheet)]
    return [*text_files.read_numbered_lines(path, table_layout.encoding)]


def _read_sheet(path: str, sheet: str | None) -> Iterator[NumberedLine]:
    """Yields the rows of a workbook as lines of a file of tabs.

    An empty row ends a sentence, as an empty line does.
    """
    last_number = 0
    for row in workbooks.read_sheet(path, sheet, has_gaps=True):
        if row.number > last_number + 1:
            yield NumberedLine(row.number - 1, "")
        last_number = row.number
        text = "\t".join(re.sub(r"\s", " ", cell) for cell in row.cells)
        yield NumberedLine(row.number, text)


class _ListColumns(NamedTuple):
    """The columns of a table in which each row contains a sentence.

    Attributes:
        words: index of the column with a sentence's words.
        tags: index of the column with the tags of these words.
    """

    words: int
    tags: int


@dataclasses.dataclass(frozen=True)
class _SentenceSplitter:
    """Splits the lines of a file into sentences.

    Attributes:
        path: path of the file, for messages.
        layout: separator and columns of the file.
        chosen_tag_column_index: column of the tags that a flag chose, or None.
    """

    path: str
    layout: ConllLayout
    chosen_tag_column_index: int | None

    def split(self, lines: Sequence[NumberedLine]) -> list[SentenceLines]:
        """Splits the lines of a file into sentences.

        If a row of a table contains a sentence, the row becomes a line for each
        of the sentence's words.

        Raises:
            ValueError: a line is malformed.
        """
        sentences = [*self._split_at_empty_lines(lines)]
        list_columns = self._guess_list_columns(sentences)
        if list_columns is not None:
            return [*self._expand_rows(sentences, list_columns)]
        if self.layout.sentence_column_index is not None:
            return [
                *_split_by_column(sentences, self.layout.sentence_column_index)
            ]
        return sentences

    def _split_at_empty_lines(
        self, lines: Sequence[NumberedLine]
    ) -> Iterator[SentenceLines]:
        """Yields the lines between empty lines, without comments."""
        document_index = 0
        sentence: list[ConllLine] = []
        for line in self._cut_lines(lines):
            if line.begins_document or not line.cells:
                if sentence:
                    yield SentenceLines(document_index, sentence)
                sentence = []
                document_index += line.begins_document
                continue
            # Files that were joined repeat the names.
            if self.layout.names and line.cells == self.layout.names:
                continue
            if self._is_comment(line, begins_sentence=not sentence):
                continue
            self._check_width(line)
            sentence.append(line)
        if sentence:
            yield SentenceLines(document_index, sentence)

    def _cut_lines(self, lines: Sequence[NumberedLine]) -> Iterator[ConllLine]:
        """Cuts each line into cells. An empty line becomes one without cells.

        A row of a table becomes a single line, although its quoted cells may
        contain line breaks.
        """
        separator = self.layout.separator
        if self.layout.names and separator and separator != "\t":
            yield from self._cut_rows(lines, separator)
            return
        for line_number, text in lines:
            cells = split_line(text, separator)
            if self.layout.names and cells:
                # `split_line` leaves out empty cells at the end.
                cells += [""] * (self.layout.width - len(cells))
            yield ConllLine(line_number, text, cells)

    def _cut_rows(
        self, lines: Sequence[NumberedLine], separator: str
    ) -> Iterator[ConllLine]:
        ended_lines = (f"{line.text}\n" for line in lines)
        layout = TableLayout(delimiter=DELIMITER_OF_CHARACTER[separator])
        table = open_csv(self.path, ended_lines, layout, is_tsv=False)
        for row in table.parse_rows():
            if isinstance(row, MalformedRow):
                raise ValueError(
                    f"{self.path}, line {row.line_number}: {row.explain()}"
                )
            cells = strip_cells(row.cells)
            text = separator.join(cells)
            yield ConllLine(row.number, text, cells if any(cells) else [])

    def _is_comment(self, line: ConllLine, *, begins_sentence: bool) -> bool:
        """Returns whether a line is a comment, which a table does not have.

        `begins_sentence` is whether the line is the first one of a sentence.
        """
        if self.layout.names:
            return False
        cells = line.cells
        if line.text.startswith("#") and len(cells) != self.layout.width:
            return True
        # A line that starts with "# " or "## " may precede a sentence as a
        # comment. It may have as many columns as a word's line, but contains no
        # tag.
        if not begins_sentence or self.layout.width < 2:
            return False
        last = len(cells) - 1
        tag_column_index = last
        if self.chosen_tag_column_index is not None:
            tag_column_index = min(self.chosen_tag_column_index, last)
        tag = cells[tag_column_index]
        return bool(re.match("#+( |$)", cells[0])) and not is_tag(tag)

    def _check_width(self, line: ConllLine) -> None:
        """Raises a ValueError if a line lacks columns, or has more of them."""
        if len(line.cells) != self.layout.width:
            raise ValueError(
                f"{self.path}, line {line.line_number}: the line has "
                f"{len(line.cells)} columns, but the first line has "
                f"{self.layout.width}. Received: {line.text[:80]!r}"
            )

    def _guess_list_columns(
        self, sentences: Sequence[SentenceLines]
    ) -> _ListColumns | None:
        """Guesses the columns of a table whose rows contain a sentence each.

        Returns None if a row contains only a word. The first row decides. If
        the user chose the column of the tags, a row contains a word.
        """
        word_column_index = self.layout.word_column_index
        tag_column_index = self.layout.tag_column_index
        if word_column_index is None or tag_column_index is None:
            return None
        if self.chosen_tag_column_index is not None or not sentences:
            return None
        first_row = sentences[0].lines[0].cells
        tag_cell = first_row[tag_column_index]
        num_words = len(first_row[word_column_index].split())
        num_tags = len(_split_tags(tag_cell))
        is_tag_for_each_word = num_words > 1 and num_tags == num_words
        if tag_cell.startswith("[") or is_tag_for_each_word:
            return _ListColumns(word_column_index, tag_column_index)
        return None

    def _expand_rows(
        self, sentences: Sequence[SentenceLines], columns: _ListColumns
    ) -> Iterator[SentenceLines]:
        """Yields a sentence for each row, whose cells list words and tags."""
        for document_index, rows in sentences:
            for row in rows:
                sentence = self._expand_row(row, columns)
                if sentence:
                    yield SentenceLines(document_index, sentence)

    def _expand_row(
        self, row: ConllLine, columns: _ListColumns
    ) -> list[ConllLine]:
        """Returns a line for each word of a row that contains a sentence.

        Raises a ValueError if the row contains more or fewer tags than words.
        """
        word_cell = row.cells[columns.words]
        words = _split_words(word_cell)
        tags = _split_tags(row.cells[columns.tags])
        if len(words) != len(tags):
            raise ValueError(
                f"{self.path}, line {row.line_number}: {len(tags)} tags do not "
                f"fit the words {word_cell[:120]!r}. Write a word and "
                "its tag per line, or JSON lines with `tokens` and "
                "`ner_tags`"
            )
        sentence = []
        for word, tag in zip(words, tags, strict=True):
            cells = [*row.cells]
            cells[columns.words], cells[columns.tags] = word, tag
            sentence.append(row._replace(cells=cells))
        return sentence


def _split_by_column(
    sentences: Sequence[SentenceLines], sentence_column_index: int
) -> Iterator[SentenceLines]:
    """Splits the lines where a column begins a new sentence."""
    values = {
        line.cells[sentence_column_index]
        for _, lines in sentences
        for line in lines
    }
    # pandas may write an empty cell as NaN.
    empty_values = {value for value in values if value.lower() in ("", "nan")}

    def begins_sentence(value: str, value_before: str) -> bool:
        if value in empty_values:
            return False
        # If some cells are empty, each filled one begins a sentence.
        return bool(empty_values) or value != value_before

    for document_index, lines in sentences:
        part: list[ConllLine] = []
        for line in lines:
            if part and begins_sentence(
                line.cells[sentence_column_index],
                part[-1].cells[sentence_column_index],
            ):
                yield SentenceLines(document_index, part)
                part = []
            part.append(line)
        yield SentenceLines(document_index, part)


def _split_tags(cell: str) -> list[str]:
    """Returns the tags of a cell. No tag contains a space, comma or quote.

    Examples:
        >>> _split_tags("['O', 'B-PER']"), _split_tags("O B-PER")
        (['O', 'B-PER'], ['O', 'B-PER'])
    """
    return re.findall(r"[^\s,'\"\[\]]+", cell)


def _split_words(cell: str) -> list[str]:
    """Returns the words of a cell, [] if it is a list that cannot be read."""
    if not cell.startswith("["):
        return cell.split()
    try:
        return [*map(str, ast.literal_eval(cell))]
    except (SyntaxError, ValueError):
        return []
