"""Reads a table that a test writes.

For example:

    rows = read_table(tmp_path, "a.csv", "text,label\\na,x\\n")
"""

from data.tables.table_formats import Layout, read_rows


def read_table(folder, name, data, **layout):
    """Writes a table to a file in `folder`, and returns its (number, row)s.

    `layout` replaces fields of the Layout. By default nothing is known of the
    table. Raises a ValueError at the first row that is wrong.
    """
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    rows = []
    for number, row in read_rows(path, Layout(**{"has_header": None} | layout)):
        if isinstance(row, ValueError):
            raise ValueError(f"{path}, line {number}: {row}")
        rows.append((number, row))
    return rows
