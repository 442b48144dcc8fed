"""Reads and compares the names of a model's outputs, in order."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from files.labels import check_labels
from files.paths import StrPath, named_errors

LABELS_FILE = "labels.txt"


def read_labels_file(path: StrPath) -> list[str]:
    """Reads `labels.txt`, one label per line.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not UTF-8, or `check_labels` raises an error.
    """
    try:
        # Accept the byte order mark that Windows writes.
        with named_errors(path), open(path, encoding="utf-8-sig") as reader:
            text = reader.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: {error}. Save the file as UTF-8") from error
    labels = text.removesuffix("\n").split("\n")
    check_labels(labels, str(path))
    return labels


def labels_of_config(
    values: Mapping[str, Any], config_file: str
) -> list[str] | None:
    """Returns the labels in `id2label` of a config.json, in order.

    Args:
        values: contents of the file.
        config_file: path of the file, for messages.

    Returns:
        the labels, or None if the file names only LABEL_0, LABEL_1, ...

    Raises:
        ValueError: a number or a label is missing, or a label occurs twice.
    """
    numbered = {str(k): v for k, v in (values.get("id2label") or {}).items()}
    names: list[Any] = [numbered.get(str(i)) for i in range(len(numbered))]
    if names == default_labels(len(names)):
        return None
    # JSON may contain numbers as names.
    labels = [str(name) if type(name) is int else name for name in names]
    check_labels(labels, f"{config_file}: `id2label`")
    return labels


def find_order(
    saved: Sequence[str], labels: Sequence[Sequence[str]]
) -> list[int] | None:
    """Returns the position of each label among the labels of a saved model.

    Compares exact names first, then names without case and punctuation.

    Args:
        saved: names of the saved model's outputs, in order.
        labels: alternative lists of names, as for `load_checkpoint`. The first
            list that contains the same names as `saved` is used.

    Returns:
        for each name in this list, its index in `saved`. None if no list
        contains the same names.
    """
    for form in (str, _plain):
        places = {form(name): index for index, name in enumerate(saved)}
        for names in labels:
            wanted = [form(name) for name in names]
            if len(places) == len(saved) and sorted(wanted) == sorted(places):
                return [places[name] for name in wanted]
    return None


def _plain(label: str) -> str:
    label = unicodedata.normalize("NFKC", label).casefold()
    # Keep + and - at the start and end, because -1 and 1 are different labels.
    label = re.sub(r"(?<=[^\W_])[\W_]+(?=[^\W_])", "_", label)
    return re.sub(r"^(?:[^\w+-]|_)+|(?:[^\w+-]|_)+$", "", label)


def default_labels(num_labels: int) -> list[str]:
    """Returns LABEL_0, LABEL_1, ..., the default labels in transformers."""
    return [f"LABEL_{index}" for index in range(num_labels)]
