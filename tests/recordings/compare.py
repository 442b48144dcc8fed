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
from pathlib import Path

from tests.recordings import commands

# What a recording contains besides values.
WORDS = ("messages", "stderr", "programs")
# Of a difference, and of the differences in a file.
MAX_LINES = 40
MAX_PLACES = 6


def load(folder):
    """Returns {name: recording} of a folder."""
    paths = Path(folder).glob("recorded/*.json")
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def differences(base, new, path=()):
    """Yields (is it a value, path, lines that show the difference).

    `base` and `new` are of one command, or of the part of it at `path`.
    """
    # As text, because 1 is not 1.0, a NaN is a NaN, and keys have an order.
    keeps_order = not any(key.endswith("model.json") for key in path)
    one, other = (
        json.dumps(value, sort_keys=not keeps_order) for value in (base, new)
    )
    if one == other:
        return
    if isinstance(base, dict) and isinstance(new, dict):
        keeps_order = keeps_order and "files" in path
        if keeps_order and [*base] != [*new] and base.keys() == new.keys():
            lines = [f"- {[*base]}", f"+ {[*new]}"]
            yield True, (*path, "order of the keys"), lines
        for key in sorted({*base, *new}):
            here = (*path, key)
            if key not in new:
                yield _is_value(here, base[key], None), here, ["only in BASE"]
            elif key not in base:
                yield _is_value(here, None, new[key]), here, ["only in NEW"]
            else:
                yield from differences(base[key], new[key], here)
    elif _are_rows(base) and _are_rows(new) and len(base) == len(new):
        for number, (one, other) in enumerate(zip(base, new, strict=True), 1):
            yield from differences(one, other, (*path, f"line {number}"))
    elif _are_lines(base) and _are_lines(new):
        lines = difflib.unified_diff(base, new, lineterm="", n=0)
        yield _is_value(path, base, new), path, [*lines][2:]
    else:
        lines = [f"- {json.dumps(base)}", f"+ {json.dumps(new)}"]
        yield _is_value(path, base, new), path, lines


def _are_rows(value):
    return isinstance(value, list) and all(isinstance(x, dict) for x in value)


def _are_lines(value):
    return isinstance(value, list) and all(isinstance(x, str) for x in value)


def _is_value(path, base, new):
    if path[0] in WORDS:
        return False
    # The answer to a request that failed is {"line": number, "error": words}.
    if path[-1] == "error":
        return not (isinstance(base, str) and isinstance(new, str))
    if path[-1].endswith("README.md") and base and new:
        return " ".join(base).split() != " ".join(new).split()
    return True


def report(base, new, only="", write=print):
    """Prints what differs between the folders of two recordings.

    Returns:
        1 if a value differs or a command is missing, or else 0.
    """
    files_of = {path: load(path) for path in (base, new)}
    names = [k for k, v in commands.select(only).items() if not v.stop_at]
    counts = collections.Counter()
    changed = []
    for name in names:
        one, other = (files_of[path].get(name) for path in (base, new))
        if one is None or other is None:
            write(f"== {name}: not recorded in {base if one is None else new}")
            counts["value"] += 1
            changed.append(name)
            continue
        places = collections.Counter()
        for is_value, path, lines in differences(one, other):
            kind = "value" if is_value else "words"
            counts[kind] += 1
            if is_value and name not in changed:
                changed.append(name)
            file = path[:2]
            places[file] += 1
            if places[file] <= MAX_PLACES:
                write(f"== {name}: {kind}: {' / '.join(path)}")
                _show(lines, write)
        for file, count in places.items():
            if count > MAX_PLACES:
                more = count - MAX_PLACES
                write(f"== {name}: {more} more in {' / '.join(file)}")
    if changed:
        write(f"commands with other values: {','.join(changed)}")
    write(
        f"{len(names)} commands compared: {counts['value']} values and "
        f"{counts['words']} words differ"
    )
    return int(counts["value"] > 0)


def _show(lines, write):
    for line in lines[:MAX_LINES]:
        write(f"   {line[:400]}")
    if len(lines) > MAX_LINES:
        write(f"   ... and {len(lines) - MAX_LINES} more lines")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("base", help="folder of a recording")
    parser.add_argument("new", help="folder of another recording")
    parser.add_argument("--only", default="", help="names or patterns")
    options = parser.parse_args()
    try:
        return report(options.base, options.new, options.only)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
