"""Writes small Excel workbooks, cell by cell.

For example:

    write_workbook(path, {"Sheet1": [["text", "label"], ["a", 1]]})
"""

import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias
from xml.sax.saxutils import escape

# None, a value, or a formula: without a value, or (formula, value).
Cell: TypeAlias = str | float | bool | bytes | tuple[str, object] | None

_NAME = "http://schemas.openxmlformats.org"
_MAIN = f'xmlns="{_NAME}/spreadsheetml/2006/main"'
_LINK = f'xmlns:r="{_NAME}/officeDocument/2006/relationships"'


def write_workbook(
    path: Path,
    sheets: Mapping[str, Sequence[Sequence[Cell]]],
    hidden: Collection[str] = (),
) -> Path:
    """Writes a workbook of {name of a sheet: rows}.

    A cell is a text, a number, a truth, None, or a formula: bytes such as
    b"1+1" without a value, or a tuple (formula, value).
    """
    names = [*sheets]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_NAME}/package/2006/content-types"/>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_NAME}/package/2006/relationships">'
            f'<Relationship Id="r1" Target="xl/workbook.xml" Type="{_NAME}/'
            'officeDocument/2006/relationships/officeDocument"/>'
            "</Relationships>",
        )
        archive.writestr(
            "xl/workbook.xml",
            f"<workbook {_MAIN} {_LINK}><sheets>"
            + "".join(
                f'<sheet name="{escape(name)}" sheetId="{number}" '
                f'r:id="r{number}"'
                + (' state="hidden"' if name in hidden else "")
                + "/>"
                for number, name in enumerate(names, 1)
            )
            + "</sheets></workbook>",
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_NAME}/package/2006/relationships">'
            + "".join(
                f'<Relationship Id="r{number}" '
                f'Target="worksheets/sheet{number}.xml" '
                f'Type="{_NAME}/officeDocument/2006/relationships/worksheet"/>'
                for number in range(1, len(names) + 1)
            )
            + "</Relationships>",
        )
        for number, name in enumerate(names, 1):
            archive.writestr(
                f"xl/worksheets/sheet{number}.xml",
                f"<worksheet {_MAIN}><sheetData>"
                + "".join(map(_row, range(1, 1000), sheets[name]))
                + "</sheetData></worksheet>",
            )
    return path


def _row(number: int, cells: Sequence[Cell]) -> str:
    written = (
        _cell(f"{chr(65 + column)}{number}", cell)
        for column, cell in enumerate(cells)
    )
    return f'<row r="{number}">{"".join(written)}</row>'


def _cell(place: str, cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        return f'<c r="{place}"><f>{cell.decode()}</f><v></v></c>'
    if isinstance(cell, tuple):
        formula, value = cell
        kind = ' t="str"' if isinstance(value, str) else ""
        return f'<c r="{place}"{kind}><f>{formula}</f><v>{value}</v></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, str):
        text = f'<t xml:space="preserve">{escape(cell)}</t>'
        return f'<c r="{place}" t="inlineStr"><is>{text}</is></c>'
    return f'<c r="{place}"><v>{cell}</v></c>'
