"""Builds the rows of a table from cells, and finds malformed ones."""

from collections.abc import Sequence

from data.tables import dialects, headers
from data.tables.unnamed_columns import ColumnNumber, unique_keys
from files.json_files import JsonObject

# Number of first rows that show the width of a table without a header, if the
# user chose its dialect.
_NUM_FIRST_ROWS = 3


class RowBuilder:
    """Builds the rows of a table from cells, and finds malformed ones.

    Most rows of a table without a header must have the same width, which is
    their number of cells.

    Args:
        names: names of the columns, [] if the table has no header.
        width: number of cells of a row without names. 0 = rows differ, None =
            count the cells of the first rows.
        may_be_wider: whether some rows without names have further cells, as in
            STS benchmarks.
    """

    def __init__(
        self,
        names: Sequence[str],
        width: int | None = None,
        may_be_wider: bool = False,
    ) -> None:
        self._names = [*names]
        if names:
            # The file was saved twice with UTF-8's mark.
            self._names[0] = names[0].removeprefix("\ufeff")
        self._keys = unique_keys(self._names)
        self._width = width
        self._may_be_wider = may_be_wider
        self._first_widths: list[int] = []
        self._max_width = 0

    def build(
        self, cells: list[str], is_swallowed: bool = False
    ) -> JsonObject | ValueError:
        """Returns a row, {column: cell}, or an error that says what is wrong.

        Args:
            cells: the cells of the row.
            is_swallowed: whether one of them contains the next lines of the
                table (see `csv_records.is_swallowed`).
        """
        if self._names:
            problem = self._find_problem_under_names(cells, is_swallowed)
        else:
            problem = self._find_problem_of_width(cells)
        if problem:
            return ValueError(f"{problem}. Received: {cells}"[:300])
        if len(cells) != len(self._keys):
            self._keys = [*map(ColumnNumber, range(1, len(cells) + 1))]
        return dict(zip(self._keys, cells, strict=True))

    def _find_problem_under_names(
        self, cells: list[str], is_swallowed: bool
    ) -> str | None:
        """Returns the error in a row of a table with a header, or None."""
        names = self._names
        if len(cells) != len(names):
            return (
                f"the line has {len(cells)} columns, but the first line has "
                f"{len(names)}"
            )
        # Compare the first cell first, because it differs in nearly all rows.
        if cells[0].endswith(names[0]) and headers.repeats_names(cells, names):
            return "the line repeats the names of the columns. Remove it"
        if is_swallowed:
            return (
                "a quoted cell contains the next lines of the table. If quotes "
                "are ordinary characters here, set --noquoting. Otherwise "
                "replace the tabs in the cell by spaces"
            )
        return None

    def _find_problem_of_width(self, cells: Sequence[str]) -> str | None:
        """Returns the error if a row without names has a wrong width."""
        width = len(cells)
        if width == self._width:
            return None
        self._max_width = max(self._max_width, width, self._width or 0)
        # MySQL writes a backslash before a line break in a cell.
        if width < self._max_width and cells[-1].endswith("\\"):
            return (
                f"the line ends in a backslash and has {width} columns, but "
                f"other lines have {self._max_width}. Replace the line breaks "
                "in cells by blanks"
            )
        if self._width is None:
            self._learn_width(width)
        usual_width = self._width or width
        is_wider = width > usual_width and self._may_be_wider
        if width == usual_width or is_wider:
            return None
        return (
            f"the line has {width} columns, but other lines have {usual_width}"
        )

    def _learn_width(self, width: int) -> None:
        """Notes the width of a row, and after the first rows, the common width.

        The rows are not read ahead, because a pipe may not have more yet.
        """
        self._first_widths.append(width)
        if len(self._first_widths) == _NUM_FIRST_ROWS:
            self._width = dialects.find_common_width(self._first_widths)
