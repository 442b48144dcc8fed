"""Writes and reads small tables as CSV.

For example:

    write_csv(tmp_path / "train.csv", ["text", "label"], [("a boat", "yes")])
    read_csv(tmp_path / "train.csv")  # [{"text": "a boat", "label": "yes"}]
"""

import csv
from collections.abc import Iterable
from pathlib import Path


def write_csv(
    path: Path,
    names: Iterable[object],
    rows: Iterable[Iterable[object]],
    encoding: str = "utf-8",
) -> None:
    """Writes the names of the columns, and rows."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([names, *rows])


def read_csv(path: Path) -> list[dict[str, str]]:
    """Returns {column: cell} of each row."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [*csv.DictReader(file)]
