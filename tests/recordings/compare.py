"""Compares two recordings of the commands.

    python -m tests.recordings.compare BASE NEW [--only=NAME,NAME]

Prints what differs. The exit status is 1 if a value differs: a variable, a
record, a result, an answer, a help text, a list of files. Different words of
messages, white space of cards, and bytes of exported programs are listed, and
do not fail.
"""

import argparse
import collections
import difflib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeGuard

from files.paths import StrPath
from tests.recordings import commands

# Parts of a recording that may differ, because they are no values.
PARTS_OF_WORDS = ("messages", "stderr", "programs")
# Lines that are shown of a difference, and differences of a file.
MAX_LINES = 40
MAX_DIFFERENCES = 6


# The keys that lead to a place in a recording.
Keys: TypeAlias = tuple[str, ...]


class Difference(NamedTuple):
    """A place at which two recordings of a command differ.

    Attributes:
        is_value: whether a value differs there, and not only words.
        path: the keys that lead to the place, such as ("files", "run/a.txt").
        lines: lines that show the difference.
    """

    is_value: bool
    path: Keys
    lines: list[str]


def read_recordings(folder: StrPath) -> dict[str, object]:
    """Returns {name of a command: its recording} of a folder."""
    paths = Path(folder).glob("recorded/*.json")
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def differences(
    base: object, new: object, path: Keys = ()
) -> Iterator[Difference]:
    """Yields each Difference of two recordings of a command.

    `base` and `new` are the parts of the two recordings at `path`.
    """
    # As text, because 1 is not 1.0, a NaN is a NaN, and keys have an order.
    keeps_order = not any(key.endswith("model.json") for key in path)
    base_text, new_text = (
        json.dumps(value, sort_keys=not keeps_order) for value in (base, new)
    )
    if base_text == new_text:
        return
    if isinstance(base, dict) and isinstance(new, dict):
        if keeps_order and "files" in path:
            yield from _order_difference(base, new, path)
        for key in sorted({*base, *new}):
            inner_path = (*path, key)
            if key not in new:
                is_value = _is_value(inner_path, base[key], None)
                yield Difference(is_value, inner_path, ["only in BASE"])
            elif key not in base:
                is_value = _is_value(inner_path, None, new[key])
                yield Difference(is_value, inner_path, ["only in NEW"])
            else:
                yield from differences(base[key], new[key], inner_path)
    elif _are_rows(base) and _are_rows(new) and len(base) == len(new):
        rows = zip(base, new, strict=True)
        for line_number, (base_row, new_row) in enumerate(rows, 1):
            inner_path = (*path, f"line {line_number}")
            yield from differences(base_row, new_row, inner_path)
    elif _are_lines(base) and _are_lines(new):
        _, _, *lines = difflib.unified_diff(base, new, lineterm="", n=0)
        yield Difference(_is_value(path, base, new), path, lines)
    else:
        lines = [f"- {json.dumps(base)}", f"+ {json.dumps(new)}"]
        yield Difference(_is_value(path, base, new), path, lines)


def _order_difference(
    base: dict[str, object], new: dict[str, object], path: Keys
) -> Iterator[Difference]:
    """Yields a Difference if two dicts have their keys in another order."""
    if [*base] != [*new] and base.keys() == new.keys():
        lines = [f"- {[*base]}", f"+ {[*new]}"]
        yield Difference(True, (*path, "order of the keys"), lines)


def _are_rows(value: object) -> TypeGuard[list[dict[str, object]]]:
    return isinstance(value, list) and all(
        isinstance(row, dict) for row in value
    )


def _are_lines(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(
        isinstance(line, str) for line in value
    )


def _is_value(path: Keys, base: object, new: object) -> bool:
    """Returns whether a difference between `base` and `new` is one of values.

    None stands for the part that is missing in one of the two recordings.
    """
    if path[0] in PARTS_OF_WORDS:
        return False
    # The answer to a request that failed is {"line": number, "error": words}.
    if path[-1] == "error":
        return not (isinstance(base, str) and isinstance(new, str))
    is_card = path[-1].endswith("README.md")
    if is_card and _are_lines(base) and _are_lines(new):
        return " ".join(base).split() != " ".join(new).split()
    return True


def report_differences(
    base_folder: StrPath,
    new_folder: StrPath,
    only: str = "",
    write: Callable[[str], None] = print,
) -> int:
    """Prints what differs between the folders of two recordings.

    Args:
        base_folder: folder of the recording to compare with.
        new_folder: folder of the other recording.
        only: names or patterns of the commands to compare, all by default.
        write: function that prints a line.

    Returns:
        1 if a value differs or a command is missing, or else 0.
    """
    base_recordings = read_recordings(base_folder)
    new_recordings = read_recordings(new_folder)
    names = [
        name
        for name, command in commands.select(only).items()
        if not command.stop_at
    ]
    num_values = 0
    num_words = 0
    changed_names = []
    for name in names:
        base = base_recordings.get(name)
        new = new_recordings.get(name)
        if base is None or new is None:
            folder = base_folder if base is None else new_folder
            write(f"== {name}: not recorded in {folder}")
            num_values += 1
            changed_names.append(name)
            continue
        command_differences = [*differences(base, new)]
        _show_command(name, command_differences, write)
        num_changed = sum(
            difference.is_value for difference in command_differences
        )
        num_values += num_changed
        num_words += len(command_differences) - num_changed
        if num_changed:
            changed_names.append(name)
    if changed_names:
        write(f"commands with other values: {','.join(changed_names)}")
    write(
        f"{len(names)} commands compared: {num_values} values and "
        f"{num_words} words differ"
    )
    return int(num_values > 0)


def _show_command(
    name: str,
    command_differences: Sequence[Difference],
    write: Callable[[str], None],
) -> None:
    """Prints the differences of a command, but not all of a file with many."""
    num_of_file: collections.Counter[Keys] = collections.Counter()
    for is_value, path, lines in command_differences:
        file = path[:2]
        num_of_file[file] += 1
        if num_of_file[file] <= MAX_DIFFERENCES:
            kind = "value" if is_value else "words"
            write(f"== {name}: {kind}: {' / '.join(path)}")
            _show_lines(lines, write)
    for file, count in num_of_file.items():
        if count > MAX_DIFFERENCES:
            num_hidden = count - MAX_DIFFERENCES
            write(f"== {name}: {num_hidden} more in {' / '.join(file)}")


def _show_lines(lines: Sequence[str], write: Callable[[str], None]) -> None:
    for line in lines[:MAX_LINES]:
        write(f"   {line[:400]}")
    if len(lines) > MAX_LINES:
        write(f"   ... and {len(lines) - MAX_LINES} more lines")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("base", help="folder of a recording")
    parser.add_argument("new", help="folder of another recording")
    parser.add_argument("--only", default="", help="names or patterns")
    options = parser.parse_args()
    try:
        return report_differences(options.base, options.new, options.only)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
