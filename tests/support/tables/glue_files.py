"""Files of a task of GLUE, which are TSV."""

from pathlib import Path


def write_columns(folder: Path, name: str, *lines: str) -> None:
    """Writes lines whose columns are separated by `|` instead of tabs."""
    text = "".join(f"{line}\n" for line in lines)
    (folder / name).write_text(text.replace("|", "\t"))
