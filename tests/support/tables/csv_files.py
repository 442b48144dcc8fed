"""Writes and reads small tables as CSV, and writes TSV.

For example:

    write_csv(tmp_path / "train.csv", ["text", "label"], [("a boat", "yes")])
    read_csv(tmp_path / "train.csv")  # [{"text": "a boat", "label": "yes"}]
    write_tsv(tmp_path, "dev.tsv", "text|label", "a boat|yes")
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


def write_tsv(folder: Path, name: str, *lines: str) -> None:
    """Writes the lines to a file of the folder, with a tab for each `|`."""
    text = "".join(f"{line}\n" for line in lines)
    (folder / name).write_text(text.replace("|", "\t"))
