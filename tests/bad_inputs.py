"""Draws bad inputs: flags and files that every script must refuse at once.

Each is a change of one flag of a command that is well: another value, or the
path of a file or folder made wrong in one place.
"""

import dataclasses
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Of each type of flag, as --helpxml names it, values that are none.
BAD_VALUES = {
    "int": ["x", "1.5", "", "nan", "1e9", str(2**64), str(-(10**30))],
    "float": ["x", "", "nan", "inf", "-inf", "1e999"],
    "bool": ["maybe", "2"],
    "string enum": ["none of these", ""],
}
NESTED = ["[" * 100_000, '{"a":' * 100_000, "[" * 5000 + "]" * 5000]
NOT_TEXT = ["null", "7", "[]", "{}", "true", "[null]"]
NOT_FINITE = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"]


@dataclasses.dataclass(frozen=True)
class Command:
    """A command that is well.

    Attributes:
        script: the script's file.
        flags: its flags; a str that is no path, or the Path of a good file.
        kinds: for each flag that names a path, a key of `CHANGES`.
    """

    script: str
    flags: dict[str, Any]
    kinds: dict[str, str]


# What is wrong, and the value of the flag. Gets a generator, the good path,
# and a path that may be written.
Change = Callable[[random.Random, Path, Path], tuple[str, Any]]


def draw(
    rng: random.Random,
    commands: list[Command],
    flag_types: dict[str, dict[str, str]],
    folder: Path,
) -> tuple[str, Command, dict[str, Any]]:
    """Draws a bad command.

    Args:
        rng: source of every choice.
        commands: good ones to choose from.
        flag_types: for each script the type of each flag, as in BAD_VALUES.
        folder: empty; the bad files are written here.

    Returns:
        what is wrong, the good command, and the flags that are given.
    """
    command = rng.choice(commands)
    types = flag_types[command.script]
    if rng.random() < 0.3:
        flag = rng.choice([name for name in types if types[name] in BAD_VALUES])
        value = rng.choice(BAD_VALUES[types[flag]])
        return f"--{flag}={value}", command, command.flags | {flag: value}
    flag, kind = rng.choice(list(command.kinds.items()))
    changes = CHANGES[kind]
    what, value = rng.choice(changes)(
        rng, command.flags.get(flag), folder / "bad"
    )
    return f"--{flag}: {what}", command, command.flags | {flag: value}


def _missing(rng, good, bad):
    return "missing", bad / "none"


def _blank(rng, good, bad):
    return "an empty path", ""


def _folder(rng, good, bad):
    bad.mkdir()
    return "an empty folder", bad


def _empty(rng, good, bad):
    bad.write_bytes(b"")
    return "an empty file", bad


def _noise(rng, good, bad):
    # No byte of it can begin a character.
    size = rng.randint(1, 3000)
    bad.write_bytes(bytes(rng.choice(range(0x80, 0xC0)) for _ in range(size)))
    return f"{size} bytes of noise", bad


def _inside_a_file(rng, good, bad):
    bad.write_bytes(b"a file")
    return "in a file", bad / "out"


def _nested(rng, good, bad):
    bad.write_text(rng.choice(NESTED))
    return "nested JSON", bad


def _cut_json(rng, good, bad):
    text = good.read_text(encoding="utf-8").rstrip()
    size = rng.randrange(1, len(text))
    bad.write_text(text[:size], encoding="utf-8")
    return f"JSON cut to {size} characters", bad


def _other_json(rng, good, bad):
    text = rng.choice(["[]", "[1]", "3", "null", '"x"', "NaN", "'x'", "{}"])
    bad.write_text(text)
    return f"{text} in the file", bad


def _config_value(rng, good, bad):
    config = json.loads(good.read_text())
    key = rng.choice(list(config))
    value = rng.choice(["[1]", "{}", '"\\ud800"', '"x"', *NOT_FINITE])
    text = json.dumps(config | {key: "HERE"}).replace('"HERE"', value)
    bad.write_text(text)
    return f'"{key}": {value}', bad


def _vocabulary(rng, good, bad):
    lines = good.read_text(encoding="utf-8").splitlines()
    i = rng.randrange(len(lines))
    token = rng.choice(["[UNK]", "[CLS]", "[SEP]", "[MASK]", lines[i]])
    if token == lines[i]:
        lines.insert(rng.randrange(len(lines)), token)
        what = f"{token!r} twice"
    else:
        lines.remove(token)
        what = f"no {token}"
    bad.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return what, bad


def _records(rng, good, bad):
    whole = good.read_bytes()
    what = rng.choice(["cut", "changed", "text"])
    if what == "cut":
        # Within the first record, which is read before the work.
        bad.write_bytes(whole[: rng.randint(1, 100)])
    elif what == "changed":
        i = rng.randrange(12)
        byte = whole[i] ^ (1 << rng.randrange(8))
        bad.write_bytes(whole[:i] + bytes([byte]) + whole[i + 1 :])
    else:
        bad.write_text("no record\n" * rng.randint(1, 99))
    return f"records: {what}", bad


def _checkpoint(rng, good, bad):
    """Breaks a checkpoint in the original's format."""
    bad.mkdir()
    for path in good.parent.glob(f"{good.name}.*"):
        shutil.copy(path, bad / path.name)
    suffix = rng.choice([".index", ".data-00000-of-00001"])
    path = bad / f"{good.name}{suffix}"
    what = rng.choice(["gone", "cut", "empty"])
    if what == "gone":
        path.unlink()
    else:
        size = path.stat().st_size
        with open(path, "r+b") as file:
            file.truncate(rng.randrange(1, size) if what == "cut" else 0)
    return f"{suffix} {what}", bad / good.name


def _safetensors(rng, good, bad):
    bad = bad.with_suffix(".safetensors")
    header = rng.choice(["{}", "[1]", "x", *NESTED]).encode()
    size = rng.choice([len(header), 2**62, len(header) + 1])
    bad.write_bytes(size.to_bytes(8, "little") + header)
    return f"a safetensors header of {size} bytes", bad


def _saved_model(rng, good, bad):
    shutil.copytree(good, bad)
    path = bad / rng.choice(["saved_model.pb", "variables/variables.index"])
    what = rng.choice(["gone", "cut", "noise"])
    if what == "gone":
        path.unlink()
    elif what == "cut":
        path.write_bytes(path.read_bytes()[: rng.randint(1, 50)])
    else:
        path.write_bytes(rng.randbytes(99))
    return f"{path.name} {what}", bad


def _lines(name: str, bad_lines: list[str]) -> Change:
    """Returns a change that puts one of some lines into a file of a folder."""

    def change(rng, good, bad):
        shutil.copytree(good, bad)
        line = rng.choice(bad_lines)
        (path,) = bad.glob(name)
        lines = path.read_text(encoding="utf-8").splitlines()
        # Not before a header.
        i = rng.randint(1, len(lines))
        lines.insert(i, line)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return f"{path.name}, line {i + 1}: {line[:60]!r}", bad

    return change


def _emptied(name: str, keep: int = 0) -> Change:
    """Returns a change that keeps the first lines alone of a file."""

    def change(rng, good, bad):
        shutil.copytree(good, bad)
        (path,) = bad.glob(name)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[:keep]), encoding="utf-8")
        return f"{path.name} has {keep} lines", bad

    return change


def _squad_value(rng, good, bad):
    """Replaces one value by one of another type."""
    content = json.loads(good.read_text(encoding="utf-8"))
    article = rng.choice(content["data"])
    paragraph = rng.choice(article["paragraphs"])
    qa = rng.choice(paragraph["qas"])
    holder, key = rng.choice(
        [
            (content, "data"),
            (article, "paragraphs"),
            (paragraph, "context"),
            (paragraph, "qas"),
            (qa, "id"),
            (qa, "question"),
            (qa, "answers"),
            (qa["answers"][0], "text"),
            (qa["answers"][0], "answer_start"),
        ]
    )
    text = rng.choice(["null", "{}", "1.5", "true", *NOT_FINITE])
    holder[key] = "HERE"
    bad.write_text(json.dumps(content).replace('"HERE"', text))
    return f'"{key}": {text}', bad


def _trivia_value(rng, good, bad):
    """Replaces one value by one of another type."""
    content = json.loads(good.read_text(encoding="utf-8"))
    (question,) = content["Data"]
    holder, key = rng.choice(
        [
            (content, "Data"),
            (question, "Question"),
            (question, "QuestionId"),
            (question, "Answer"),
            (question["Answer"], "Value"),
            (question["EntityPages"][0], "Filename"),
        ]
    )
    text = rng.choice(["null", "{}", "1.5", "true", *NOT_FINITE])
    holder[key] = "HERE"
    bad.write_text(json.dumps(content).replace('"HERE"', text))
    return f'"{key}": {text}', bad


_SWAG = {"sent1": "a", "sent2": "b"} | {f"ending{i}": "c" for i in range(4)}


def _json_rows(row: dict[str, Any], values: dict[str, list[str]]) -> list[str]:
    """Returns JSON lines with one field each that cannot be, or is gone."""
    lines = ["{", "[1]", "null", "text", *NESTED]
    for key, texts in values.items():
        for text in texts:
            line = json.dumps(row | {key: "HERE"})
            lines.append(line.replace('"HERE"', text))
        rest = {name: value for name, value in row.items() if name != key}
        lines.append(json.dumps(rest))
    return lines


_FILE = [_missing, _blank, _folder, _empty]
_JSON = [*_FILE, _noise, _nested, _cut_json, _other_json]
_DATA = [_missing, _blank, _folder, _empty]
CHANGES: dict[str, list[Change]] = {
    "config": [*_JSON, _config_value, _config_value],
    "vocabulary": [*_FILE, _noise, _vocabulary, _vocabulary],
    "corpus": _FILE,
    "text": [_missing, _blank, _folder],
    "records": [*_FILE, _noise, _records, _records],
    "checkpoint": [_missing, _blank, _folder, _checkpoint, _safetensors],
    "saved model": [_missing, _blank, _folder, _empty, _saved_model],
    "output": [_blank, _inside_a_file],
    "output file": [_blank, _inside_a_file, _folder],
    "folder": _DATA,
    "trivia": [*_JSON, _trivia_value, _trivia_value],
    "history": [
        *_DATA,
        _lines(
            "history.jsonl",
            _json_rows(
                {"kind": "eval", "step": 1, "metrics": {}}
                | dict.fromkeys(["hours", "examples", "learning_rate"], 1.0),
                {
                    "kind": ["null", "7", '"x"'],
                    "step": ["null", '"1"', "1.5", *NOT_FINITE],
                    "metrics": ["null", "[]", '{"loss": "x"}'],
                    "hours": ['"x"', "[]", *NOT_FINITE],
                },
            ),
        ),
    ],
    "squad": [*_JSON, _squad_value, _squad_value, _squad_value],
    "mrpc": [
        *_DATA,
        _lines("train.tsv", ["1\t2\t3\tfew", "yes\t2\t3\ta\tb", "1"]),
        _emptied("train.tsv"),
        _emptied("train.tsv", 1),
    ],
    "csv": [
        *_DATA,
        _lines("train.csv", ["one", "a,b,c", '"a,b', 'a,"b"c', 'a," "']),
        _emptied("train.csv"),
        _emptied("train.csv", 1),
        _emptied("train.csv", 2),
    ],
    "jsonl": [
        *_DATA,
        _lines(
            "train.jsonl",
            _json_rows(
                {"text": "a", "label": "red"},
                {
                    "text": [*NOT_TEXT, *NOT_FINITE],
                    "label": [
                        *("null", "[]", "{}", '""', '" "', "1.5"),
                        *('"a\\nb"', '"\\ud800"', *NOT_FINITE),
                    ],
                },
            ),
        ),
        _emptied("train.jsonl"),
        _emptied("train.jsonl", 1),
    ],
    "ner": [
        *_DATA,
        _lines(
            "train.txt",
            ["word", "word NN PER", "word M-PER", "word B-", "word b-PER"],
        ),
        _emptied("train.txt"),
        _emptied("train.txt", 2),
    ],
    "swag": [
        *_DATA,
        _lines(
            "train.jsonl",
            _json_rows(
                _SWAG | {"label": 1},
                {name: [*NOT_TEXT, *NOT_FINITE] for name in _SWAG}
                | {"label": ["null", "4", "-1", '"x"', "[]", *NOT_FINITE]},
            ),
        ),
        _emptied("train.jsonl"),
    ],
}
