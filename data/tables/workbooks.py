"""Reads the rows of a sheet of an Excel workbook, .xlsx."""

import datetime
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING
from xml.etree import ElementTree

from absl import logging

from command_line.installation import install_command
from data.io import packed_files, text_files
from files.paths import StrPath

if TYPE_CHECKING:
    import python_calamine

# A cell with a formula. Its value is in <v>, unless no program computed it, or
# the value is an empty text, whose type is told.
_CELL = re.compile(rb"<c\b([^>]*)(?<!/)>(?:(?!</c>).)*?<f\b.*?</c>", re.DOTALL)
_VALUE = re.compile(rb"<v[^>/]*>[^<]")


def read_sheet(
    path: StrPath, sheet: str | None, empty_is_gap: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yields (number of the row in the sheet, cells), without empty rows.

    The cells are texts, as Excel writes them to CSV: whole numbers without .0,
    dates as 2026-01-31, truths as TRUE and FALSE. The first row that is not
    empty and the widest one tell the width.

    Args:
        path: path of the workbook, or text_files.STDIN.
        sheet: name of the sheet. None = the first sheet that is not hidden
            and contains cells.
        empty_is_gap: whether empty rows part the others, and are not counted in
            the log.

    Raises:
        OSError: the file cannot be read.
        ValueError: the workbook is damaged, there is no such sheet, a formula
            has no value, or the package is not installed.
    """
    try:
        # An optional package.
        import python_calamine
    except ImportError:
        raise ValueError(
            f"{path} needs python-calamine: "
            f"{install_command('python_calamine')}. Or save the sheet as CSV "
            "UTF-8"
        ) from None
    with text_files.open_binary(path) as packed:
        data = packed.read()
        # .xlsx itself is one of the kinds that are no text.
        if re.match(packed_files.OLD_WORKBOOK, data):
            packed_files.check_is_text(data, path)
        file = io.BytesIO(data)
        try:
            book = python_calamine.CalamineWorkbook.from_filelike(file)
            names = [
                each.name
                for each in book.sheets_metadata
                if each.typ == python_calamine.SheetTypeEnum.WorkSheet
                and each.visible == python_calamine.SheetVisibleEnum.Visible
            ]
            if sheet and sheet not in book.sheet_names:
                raise ValueError(
                    f"{path}: there is no sheet {sheet!r}; the sheets are "
                    f"{', '.join(map(repr, book.sheet_names))}"
                )
            name = sheet or _first_filled(book, names or book.sheet_names)
            table = book.get_sheet_by_name(name)
            _check_formulas(path, file, book.sheet_names.index(name), name)
            if not sheet and len(names) > 1:
                logging.info(
                    "%s: read the sheet %r. --sheet reads another one",
                    path,
                    name,
                )
            rows = table.to_python(skip_empty_area=False)
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
    yield from _without_empty(path, rows, empty_is_gap)


def _first_filled(
    book: "python_calamine.CalamineWorkbook", names: list[str]
) -> str:
    # Templates keep the first sheet for a cover without cells.
    for name in names:
        if book.get_sheet_by_name(name).to_python(nrows=1):
            return name
    return names[0]


def _without_empty(
    path: StrPath, rows: Sequence[Sequence[object]], empty_is_gap: bool
) -> Iterator[tuple[int, list[str]]]:
    empty: list[int] = []
    last = 0
    for number, row in enumerate(rows, 1):
        cells = [*map(_to_text, row)]
        if any(cells):
            # Empty rows above the table or below it are no gaps.
            empty += range(last + 1, number) if last else ()
            last = number
            yield number, cells
    if empty and not empty_is_gap:
        logging.warning(
            "%s: %d empty rows left out, the first is row %d",
            path,
            len(empty),
            empty[0],
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
    # Raises an error if a cell contains a formula without a value, which the
    # library reads as an empty cell.
    with zipfile.ZipFile(file) as archive:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(
            archive.read("xl/_rels/workbook.xml.rels")
        )
        sheets = [each for each in book.iter() if _tag(each) == "sheet"]
        key = next(v for k, v in sheets[index].items() if k.endswith("}id"))
        target = next(x.get("Target", "") for x in links if x.get("Id") == key)
        data = archive.read(f"xl/{target}" if target[0] != "/" else target[1:])
    for cell in _CELL.finditer(data) if b"<f" in data else ():
        if b't="str"' not in cell[1] and not _VALUE.search(cell[0]):
            place = re.search(rb'\br="(\w+)"', cell[1])
            raise ValueError(
                f"{path}: the formula in the cell "
                f"{place[1].decode() if place else '?'} of the sheet {sheet!r} "
                "has no value. Open the workbook in Excel or LibreOffice and "
                "save it, or save the sheet as CSV UTF-8"
            )


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
