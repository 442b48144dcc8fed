"""Reads and compares the names of a model's outputs, in order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from files.json_files import read_json
from files.labels import check_labels
from files.paths import named_errors
from modeling.config_files import CONFIG_FILE, default_labels


def read_labels(
    folder: Path, described: Sequence[tuple[Path, Sequence[str] | None]]
) -> list[str] | None:
    """Returns the labels that the files in a folder name, in order.

    Args:
        folder: folder that may contain labels.txt and config.json.
        described: (file, labels in it or None) of other files.

    Raises:
        ValueError: a file is malformed, or two files name other labels.
    """
    path, config = folder / "labels.txt", folder / CONFIG_FILE
    found: list[tuple[Path, Sequence[str] | None]] = []
    if path.is_file():
        found.append((path, _read_lines(path)))
    if config.is_file():
        found.append((config, _read_config(config)))
    found += described
    named = [(file, [*map(str, names)]) for file, names in found if names]
    for file, labels in named[1:]:
        if labels != named[0][1]:
            raise ValueError(
                f"{named[0][0]} names the outputs {named[0][1]}, but {file} "
                f"names them {labels}. Correct or remove the wrong file"
            )
    return named[0][1] if named else None


def _read_lines(path: Path) -> list[str]:
    try:
        # Accept the byte order mark that Windows writes.
        with named_errors(path), open(path, encoding="utf-8-sig") as reader:
            text = reader.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: {error}. Save the file as UTF-8") from error
    labels = text.removesuffix("\n").split("\n")
    check_labels(labels, str(path))
    return labels


# Returns the labels in `id2label` of a config.json, or None if the file names
# only LABEL_0, LABEL_1, ...
def _read_config(path: Path) -> list[str] | None:
    id2label = read_json(path).get("id2label") or {}
    numbered = {str(number): name for number, name in id2label.items()}
    names: list[Any] = [numbered.get(str(i)) for i in range(len(numbered))]
    if names == default_labels(len(names)):
        return None
    # JSON may contain numbers as names.
    labels = [str(name) if type(name) is int else name for name in names]
    check_labels(labels, f"{path}: `id2label`")
    return labels


def find_order(
    saved: Sequence[str], labels: Sequence[Sequence[str]]
) -> list[int] | None:
    """Returns the position of each label among the labels of a saved model.

    Compares exact names first, then names without case.

    Args:
        saved: names of the saved model's outputs, in order.
        labels: alternative lists of names, as for `load_checkpoint`. The first
            list that contains the same names as `saved` is used.

    Returns:
        for each name in this list, its index in `saved`. None if no list
        contains the same names.
    """
    for form in (str, str.casefold):
        places = {form(name): index for index, name in enumerate(saved)}
        for names in labels:
            wanted = [form(name) for name in names]
            if len(places) == len(saved) and sorted(wanted) == sorted(places):
                return [places[name] for name in wanted]
    return None
