"""Defines the layout of a table, and the options that state it."""

import dataclasses
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from data.io.compressed_files import uncompressed_name
from files.paths import StrPath
from options import fields

TableFormat: TypeAlias = Literal[
    "jsonl", "csv", "tsv", "parquet", "xlsx", "text"
]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
# {ending of a file's name: format of the table}.
_FORMAT_OF_ENDING: dict[str, TableFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".txt": "text",
}
Delimiter: TypeAlias = Literal[",", ";", "tab", "|"]
# {value of --delimiter: the character}.
CHARACTER_OF_DELIMITER: dict[Delimiter, str] = {
    ",": ",",
    ";": ";",
    "tab": "\t",
    "|": "|",
}
DELIMITERS = tuple(CHARACTER_OF_DELIMITER)
DELIMITER_OF_CHARACTER = {
    character: delimiter
    for delimiter, character in CHARACTER_OF_DELIMITER.items()
}


class TableLayout(NamedTuple):
    """The format, the marks and the header of a table.

    Attributes:
        format: format of the file. If None, the ending of its name decides.
            For other endings, the first line decides: JSON if it begins with
            `{` or a list of objects, else plain text.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets write
            them. If False, `"` is an ordinary character. If None, the first
            rows show it.
        delimiter: character between cells of CSV and TSV, one of
            `DELIMITERS`. If None, the first rows show it.
        has_header: whether the first line of CSV, TSV and Excel names the
            columns. If False, their names are "1", "2" and so on. If None,
            the first rows show it.
        encoding: encoding of a text, for Python. A mark in the file overrides
            it. If None, the encoding is UTF-8.
        sheet: name of the sheet of a workbook. If None, the first sheet is
            read.
        columns: names of columns that the user chose. A first line that
            contains one of them is a header.
    """

    format: TableFormat | None = None
    quoting: bool | None = None
    delimiter: Delimiter | None = None
    has_header: bool | None = True
    encoding: str | None = None
    sheet: str | None = None
    columns: tuple[str, ...] = ()


DEFAULT_LAYOUT = TableLayout()


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Options for reading tables: the layout of CSV and TSV."""

    quoting: bool | None = fields.training_option(
        None,
        'In CSV and TSV files, treat " as the quote around a cell, or with '
        "--noquoting as an ordinary character. By default, the first 200 rows "
        "tell.",
    )
    delimiter: Delimiter | None = fields.training_option(
        None,
        "Character between the cells of CSV and TSV. By default, it is the "
        "one under which the first 200 rows have as many cells each.",
        choices=DELIMITERS,
    )
    has_header: bool | None = fields.training_option(
        None,
        "The first line of CSV and TSV, or the first row of Excel, names the "
        "columns, or with --nohas_header it does not. By default, usual names "
        "and the rows below tell.",
    )
    encoding: str | None = fields.training_option(
        None,
        "Encoding of text files, such as cp1252. By default, it is UTF-8, or "
        "UTF-16 in files that begin with its mark.",
    )
    sheet: str | None = fields.training_option(
        None, "Sheet of Excel workbooks to read. The default is the first."
    )

    def layout(
        self,
        file_format: TableFormat | None = None,
        has_header: bool | None = True,
        columns: Sequence[str] = (),
    ) -> TableLayout:
        """Returns how tables are written.

        Args:
            file_format: format of the tables. If None, the name of a file
                shows it.
            has_header: value if the user did not set the flag.
            columns: names of columns that the user chose.
        """
        if self.has_header is not None:
            has_header = self.has_header
        return TableLayout(
            file_format,
            self.quoting,
            self.delimiter,
            has_header,
            self.encoding,
            self.sheet,
            tuple(columns),
        )


def format_of(path: StrPath) -> TableFormat | None:
    """Returns the format that the ending of a file's name shows, or None.

    Examples:
        >>> format_of("Tickets.CSV.gz"), format_of("tickets.bin")
        ('csv', None)
    """
    name = uncompressed_name(path)
    return next(
        (
            _FORMAT_OF_ENDING[end]
            for end in _FORMAT_OF_ENDING
            if name.endswith(end)
        ),
        None,
    )
