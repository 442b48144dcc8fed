"""Reads the rows of a sheet of an Excel workbook, .xlsx."""

import datetime
import io
import itertools
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING
from xml.etree import ElementTree

from absl import logging

from data.io import compressed_files, text_files
from data.tables import header_detection
from data.tables.rows import NumberedCells, NumberedRow, RowBuilder
from data.tables.table_layout import TableLayout
from dependencies.installation import install_command
from files.paths import StrPath

if TYPE_CHECKING:
    import python_calamine

# A cell with a formula. Its value is in <v>, unless no program computed it, or
# the value is an empty text, as the type of the cell says.
_FORMULA_CELL = re.compile(
    rb"<c\b([^>]*)(?<!/)>(?:(?!</c>).)*?<f\b.*?</c>", re.DOTALL
)
_COMPUTED_VALUE = re.compile(rb"<v[^>/]*>[^<]")
# Number of rows that show whether the first one names the columns.
_NUM_FIRST_ROWS = 200


def read_workbook(path: StrPath, layout: TableLayout) -> Iterator[NumberedRow]:
    """Yields the rows of a sheet, as `tables.read_rows` does."""
    rows = read_sheet(path, layout.sheet)
    first_rows = [*itertools.islice(rows, _NUM_FIRST_ROWS)]
    has_header = header_detection.decide_header(
        str(path),
        [row.cells for row in first_rows],
        layout.has_header,
        chosen_names=layout.columns,
    )
    all_rows = itertools.chain(first_rows, rows)
    names: list[str] = []
    if has_header and first_rows:
        names = next(all_rows).cells
    builder = RowBuilder(names)
    for row in all_rows:
        yield NumberedRow(row.number, builder.build(row.cells))


def read_sheet(
    path: StrPath, sheet: str | None, *, has_gaps: bool = False
) -> Iterator[NumberedCells]:
    """Yields the rows of a sheet that are not empty.

    The cells are texts, as Excel writes them to CSV: whole numbers without .0,
    dates as 2026-01-31, true as TRUE. The first row that is not empty and the
    widest row show how wide the table is.

    Args:
        path: path of the workbook, or text_files.STDIN.
        sheet: name of the sheet. If None, the first sheet that is not hidden
            and contains cells is read.
        has_gaps: whether an empty row separates groups of rows, such as
            sentences. If False, the log counts empty rows between others.

    Raises:
        OSError: the file cannot be read.
        ValueError: the workbook is damaged, there is no such sheet, a formula
            has no value, or the package is not installed.
    """
    with text_files.open_binary(path) as file:
        data = file.read()
    rows = _read_sheet_rows(path, data, sheet)
    yield from _without_empty_rows(path, rows, has_gaps)


def _read_sheet_rows(
    path: StrPath, data: bytes, sheet: str | None
) -> Sequence[Sequence[object]]:
    """Returns all rows of a sheet."""
    try:
        # An optional package.
        import python_calamine
    except ImportError:
        raise ValueError(
            f"{path} needs python-calamine: "
            f"{install_command('python_calamine')}. Or save the sheet as CSV "
            "UTF-8"
        ) from None
    # .xlsx itself is one of the formats that are no text.
    if re.match(compressed_files.OLD_WORKBOOK, data):
        compressed_files.check_is_text(data, path)
    file = io.BytesIO(data)
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(file)
        visible_names = [
            metadata.name
            for metadata in book.sheets_metadata
            if metadata.typ == python_calamine.SheetTypeEnum.WorkSheet
            and metadata.visible == python_calamine.SheetVisibleEnum.Visible
        ]
        name = _choose_sheet(path, book, sheet, visible_names)
        _check_formulas(path, file, book.sheet_names.index(name), name)
        return book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except (
        python_calamine.CalamineError,
        zipfile.BadZipFile,
        ElementTree.ParseError,
        KeyError,
        IndexError,
    ) as error:
        raise ValueError(
            f"{path} is a damaged Excel workbook, or none: {error}"
        ) from error


def _choose_sheet(
    path: StrPath,
    book: "python_calamine.CalamineWorkbook",
    sheet: str | None,
    visible_names: list[str],
) -> str:
    """Returns the name of the sheet to read.

    Without the name of a `sheet`, the first visible sheet with cells is read.
    """
    if sheet and sheet not in book.sheet_names:
        raise ValueError(
            f"{path}: there is no sheet {sheet!r}; the sheets are "
            f"{', '.join(map(repr, book.sheet_names))}"
        )
    if sheet:
        return sheet
    name = _find_first_filled_sheet(book, visible_names or book.sheet_names)
    if len(visible_names) > 1:
        logging.info(
            "%s: read the sheet %r. --sheet reads another one", path, name
        )
    return name


def _find_first_filled_sheet(
    book: "python_calamine.CalamineWorkbook", names: list[str]
) -> str:
    """Returns the first sheet with cells.

    Templates keep the first sheet for a cover without cells.
    """
    for name in names:
        if book.get_sheet_by_name(name).to_python(nrows=1):
            return name
    return names[0]


def _without_empty_rows(
    path: StrPath, rows: Sequence[Sequence[object]], has_gaps: bool
) -> Iterator[NumberedCells]:
    """Yields each row that is not empty.

    Unless `has_gaps`, logs how many empty rows are between the others.
    """
    empty_numbers: list[int] = []
    last_filled = 0
    for row_number, row in enumerate(rows, 1):
        cells = [*map(_to_text, row)]
        if any(cells):
            # Empty rows above the table or below it are no gaps.
            if last_filled:
                empty_numbers += range(last_filled + 1, row_number)
            last_filled = row_number
            yield NumberedCells(row_number, cells)
    if empty_numbers and not has_gaps:
        logging.warning(
            "%s: %d empty rows left out, the first is row %d",
            path,
            len(empty_numbers),
            empty_numbers[0],
        )


def _to_text(cell: object) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return str(cell.date())
    return str(cell)


def _check_formulas(
    path: StrPath, file: IO[bytes], index: int, sheet: str
) -> None:
    """Raises a ValueError if a cell contains a formula without a value.

    The library reads such a formula as an empty cell.

    Args:
        path: the workbook, for the error.
        file: the workbook.
        index: number of the sheet in the workbook, counted from 0.
        sheet: name of the sheet, for the error.
    """
    data = _read_sheet_xml(file, index)
    if b"<f" not in data:
        return
    for cell in _FORMULA_CELL.finditer(data):
        if b't="str"' not in cell[1] and not _COMPUTED_VALUE.search(cell[0]):
            reference = re.search(rb'\br="(\w+)"', cell[1])
            cell_name = reference[1].decode() if reference else "?"
            raise ValueError(
                f"{path}: the formula in the cell {cell_name} of the sheet "
                f"{sheet!r} has no value. Open the workbook in Excel or "
                "LibreOffice and save it, or save the sheet as CSV UTF-8"
            )


def _read_sheet_xml(file: IO[bytes], index: int) -> bytes:
    """Returns the XML of a sheet, to which the workbook refers by a link."""
    with zipfile.ZipFile(file) as archive:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(
            archive.read("xl/_rels/workbook.xml.rels")
        )
        sheets = [
            element for element in book.iter() if _tag_of(element) == "sheet"
        ]
        link_id = next(
            value
            for name, value in sheets[index].items()
            if name.endswith("}id")
        )
        target = next(
            link.get("Target", "")
            for link in links
            if link.get("Id") == link_id
        )
        is_absolute = target[0] == "/"
        return archive.read(target[1:] if is_absolute else f"xl/{target}")


def _tag_of(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
