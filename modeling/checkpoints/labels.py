"""Reads and writes the names of a model's outputs, in order."""

import os
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from files.atomic import write_text
from files.json_files import read_json
from files.labels import check_labels
from files.paths import StrPath, named_errors

LABELS_FILE = "labels.txt"


def load_labels(
    path: StrPath, num_labels: int | None = None
) -> list[str] | None:
    """Reads the names of a model's outputs from the folder of its weights.

    Args:
        path: a folder, the prefix of a TF1 checkpoint in it, or a
            `.safetensors` file in it.
        num_labels: number of the model's outputs. None = do not check it.

    Returns:
        list of str: the lines of `labels.txt`, else `id2label` or `label2id`
        of a Hugging Face `config.json`. None if the folder names no labels, or
        only the placeholders LABEL_0, LABEL_1, ...

    Raises:
        ValueError: the number of labels is not `num_labels`, `check_labels`
            raises an error for a label, or `id2label` and `label2id` contradict
            each other. The message names the file.
    """
    path = str(path)
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    labels_file = os.path.join(folder, LABELS_FILE)
    config_file = os.path.join(folder, "config.json")
    if os.path.isfile(labels_file):
        with named_errors(labels_file), open(labels_file, "rb") as reader:
            contents = reader.read()
        try:
            # Accept the byte order mark and line ends that Windows writes.
            text = contents.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{labels_file}: byte {error.start} is not UTF-8. Save the "
                "file as UTF-8"
            ) from error
        labels = text.removesuffix("\n").split("\n")
        check_labels(labels, labels_file, num_labels)
        return labels
    if not os.path.isfile(config_file):
        return None
    values = read_json(config_file)
    numbers = values.get("label2id")
    numbered: list[str] = []
    if isinstance(numbers, dict) and {*map(str, numbers.values())} == {
        *map(str, range(len(numbers)))
    }:
        numbered = sorted(numbers, key=lambda name: int(numbers[name]))
    names = _in_order(values.get("id2label"), config_file)
    if names is None or (names and names == default_labels(len(names))):
        names = numbered
        if names == default_labels(len(names)):
            return None
    check_labels(names, f"{config_file}: `id2label`", num_labels)
    if numbered and names != numbered and sorted(names) == sorted(numbered):
        raise ValueError(
            f"{config_file}: `id2label` orders the labels as {names}, and "
            f"`label2id` as {numbered}. Correct the wrong entry"
        )
    return names


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


def save_labels(directory: StrPath, labels: Sequence[str]) -> None:
    """Writes `labels.txt`, one label per line, completely or not at all.

    Raises:
        ValueError: `check_labels` raises an error for the labels.
        OSError: the file cannot be written.
    """
    check_labels(labels)
    write_text(
        os.path.join(directory, LABELS_FILE),
        "".join(f"{label}\n" for label in labels),
    )


def _in_order(names: Any, config_file: str) -> list[str] | None:
    """Returns the labels in `names`, an `id2label`, sorted by number."""
    if names is None:
        return None
    if not isinstance(names, dict) or set(names) != set(
        map(str, range(len(names)))
    ):
        raise ValueError(
            f'{config_file}: `id2label` must have the keys "0", "1", ..., as '
            f'in {{"0": "no", "1": "yes"}}. Received: {names!r}'
        )
    labels = [names[str(index)] for index in range(len(names))]
    return [str(name) if type(name) is int else name for name in labels]
