"""Defines the flags of scripts that read tables."""

import dataclasses
from collections.abc import Sequence

from command_line import flags
from data.tables.dialects import DELIMITERS, Delimiter
from data.tables.table_formats import TableFormat, TableLayout


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Flags of scripts that read tables: the layout of CSV and TSV."""

    quoting: bool | None = flags.training_flag(
        None,
        'In CSV and TSV files, treat " as the quote around a cell, or with '
        "--noquoting as an ordinary character. By default, the first 200 rows "
        "tell.",
    )
    delimiter: Delimiter | None = flags.training_flag(
        None,
        "Character between the cells of CSV and TSV. By default, it is the "
        "one under which the first 200 rows have as many cells each.",
        choices=DELIMITERS,
    )
    has_header: bool | None = flags.training_flag(
        None,
        "The first line of CSV and TSV, or the first row of Excel, names the "
        "columns, or with --nohas_header it does not. By default, usual names "
        "and the rows below tell.",
    )
    encoding: str | None = flags.training_flag(
        None,
        "Encoding of text files, such as cp1252. By default, it is UTF-8, or "
        "UTF-16 in files that begin with its mark.",
    )
    sheet: str | None = flags.training_flag(
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
            file_format: format of the tables. None = find out from a file's
                name.
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
