"""The names of outputs: their order, their normal form, and labels.txt.

`describe_labels` lists labels in messages.
"""

import itertools
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from files.paths import explain_file_errors

# The file of a folder that lists the labels, in the order of the outputs.
LABELS_FILE = "labels.txt"


def is_label(label: object) -> bool:
    """Returns whether a label can be a line of labels.txt."""
    return isinstance(label, str) and label.splitlines() == [label]


def describe_labels(labels: Sequence[str]) -> str:
    """Returns labels, or texts about labels, as a message lists them.

    Names the first ten, and the number of the others.
    """
    more = f" and {len(labels) - 10} more" if len(labels) > 10 else ""
    return ", ".join(labels[:10]) + more


def check_labels(
    labels: Sequence[str],
    source: str = "`labels`",
    num_labels: int | None = None,
    min_labels: int = 0,
) -> None:
    """Checks that labels differ, and that each can be a line of labels.txt.

    Args:
        labels: the labels, in the order of the model's outputs.
        source: beginning of the error message: the flag or the file that
            contains the labels.
        num_labels: number of the model's outputs. None skips this check.
        min_labels: minimum number of labels.

    Raises:
        ValueError: a label is not text, is empty, contains a line end or occurs
            twice, or the number of labels is wrong.
    """
    for label_number, label in enumerate(labels, start=1):
        if not is_label(label) or label in labels[: label_number - 1]:
            raise ValueError(
                f"{source}: label {label_number}, {label!r}, is not a string, "
                "is empty, contains a line end or occurs twice"
            )
    if len(labels) < min_labels or num_labels not in (None, len(labels)):
        expected = (
            f"{min_labels} labels or more" if min_labels else f"{num_labels}"
        )
        raise ValueError(
            f"{source} must name {expected}. Received {len(labels)}: "
            f"{list(labels)}"
        )


def read_labels(
    folder: Path, stated: Sequence[tuple[Path, Sequence[str] | None]]
) -> list[str] | None:
    """Returns the labels that the files in a folder name, in order.

    Args:
        folder: folder that may contain labels.txt.
        stated: (file, labels in it or None) of the other files.

    Raises:
        ValueError: a file is malformed, or two files name different labels.
    """
    path = folder / LABELS_FILE
    listed: list[tuple[Path, Sequence[str] | None]] = []
    if path.is_file():
        listed.append((path, _read_lines(path)))
    listed += stated
    named = [(file, [*map(str, names)]) for file, names in listed if names]
    for file, labels in named[1:]:
        if [*map(normal_label, labels)] != [*map(normal_label, named[0][1])]:
            raise ValueError(
                f"{named[0][0]} names the outputs {named[0][1]}, but {file} "
                f"names them {labels}. Correct or remove the wrong file"
            )
    return named[0][1] if named else None


def format_labels(labels: Sequence[str]) -> str:
    """Returns the text of labels.txt: a line for each label."""
    return "".join(f"{label}\n" for label in labels)


def _read_lines(path: Path) -> list[str]:
    try:
        # Accept the byte order mark that Windows writes.
        with (
            explain_file_errors(path),
            open(path, encoding="utf-8-sig") as reader,
        ):
            text = reader.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: {error}. Save the file as UTF-8") from error
    labels = text.removesuffix("\n").split("\n")
    check_labels(labels, str(path))
    return labels


def find_order(
    saved: Sequence[str], label_alternatives: Sequence[Sequence[str]]
) -> list[int] | None:
    """Returns the position of each label among the labels of a saved model.

    Compares exact names first, then their normal forms, then without case.

    Examples:
        >>> find_order(["no", "yes"], [["Yes", "No"]])
        [1, 0]

    Args:
        saved: names of the saved model's outputs, in order.
        label_alternatives: alternative lists of names. The function uses the
            first list that contains the same names as `saved`.

    Returns:
        for each name in this list, its index in `saved`. None if no list
        contains the same names.
    """

    def without_case(name: str) -> str:
        return normal_label(name).casefold()

    for normalize in (str, normal_label, without_case):
        index_of_name = {
            normalize(name): index for index, name in enumerate(saved)
        }
        for names in label_alternatives:
            wanted = [normalize(name) for name in names]
            are_distinct = len(index_of_name) == len(saved)
            if are_distinct and sorted(wanted) == sorted(index_of_name):
                return [index_of_name[name] for name in wanted]
    return None


def normal_label(label: str) -> str:
    """Returns a label in its normal form, in which labels are compared.

    The normal form is NFC, has no invisible characters, no blanks around it,
    and one plain space for any blanks in it.
    """
    label = " ".join(label.split())
    if not (label.isascii() and label.isprintable()):
        visible = itertools.filterfalse(_is_invisible, label)
        label = unicodedata.normalize("NFC", "".join(visible))
    return " ".join(label.split())


def _is_invisible(character: str) -> bool:
    """Returns whether a character shows nothing, so that labels look alike."""
    # Keep the tags in the emoji of flags, such as of England and Scotland.
    if "\U000e0020" <= character <= "\U000e007f":
        return False
    is_hidden = unicodedata.category(character) in ("Cc", "Cf")
    return is_hidden or "\ufe00" <= character <= "\ufe0f"
