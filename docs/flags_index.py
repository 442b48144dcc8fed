"""Writes docs/flags.md, a list of all flags of all scripts.

    python docs/flags_index.py

Reads the flags from each script's --helpxml.
"""

import re
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = [
    "tools.create_vocabulary",
    "tools.check_overlap",
    "create_pretraining_data.py",
    "run_pretraining.py",
    "run_classifier.py",
    "run_squad.py",
    "run_ner.py",
    "run_swag.py",
    "extract_features.py",
    "tools.create_squad_from_triviaqa",
    "tools.convert_checkpoint",
    "predict.py",
    "tools.plot_runs",
    "tools.results_table",
    "tools.search",
    "serve.py",
]
# Flags that at least this number of scripts share get a table of their own.
_SHARED = 3
# files/flags.py inserts this text before the help of a flag that the user must
# set.
REQUIRED = "(required) "
INTRODUCTION = """\
# Flags

Every flag of every script, as `--help` prints it. Flags that several scripts
share come first, then each script's own. Run a script without `.py` in its
name as `python -m NAME`. Set a flag of true or false as `--name` or
`--noname`.

<!-- Written by docs/flags_index.py. -->
"""
Rows = dict[str, str]


def main() -> None:
    """Writes docs/flags.md."""
    (ROOT / "docs" / "flags.md").write_text(create_page(), encoding="utf-8")


def create_page() -> str:
    """Returns the contents of docs/flags.md."""
    tables = {script: _rows(text) for script, text in _run().items()}
    parts, shared = [INTRODUCTION], _share(tables)
    for scripts, rows in shared.items():
        names = ", ".join(f"`{script}`" for script in scripts)
        parts += [
            f"\n## {_title(scripts)}\n\nScripts: {names}.\n",
            _table(rows),
        ]
    for script, rows in tables.items():
        links = [
            f"[{title}](#{re.sub('[^a-z0-9]+', '-', title.lower())})"
            for title in map(_title, (s for s in shared if script in s))
        ]
        own = {
            name: row
            for name, row in rows.items()
            if not any(script in s and name in r for s, r in shared.items())
        }
        parts.append(f"\n## {script}\n\nShared flags: {', '.join(links)}.\n")
        parts.append(_table(own))
    return "".join(parts)


def _run() -> dict[str, str]:
    """Runs all scripts with --helpxml. Returns {script: its output}."""
    processes = {
        script: subprocess.Popen(
            [sys.executable, *_command(script), "--helpxml"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for script in SCRIPTS
    }
    return {
        script: process.communicate()[0]
        for script, process in processes.items()
    }


def _rows(helpxml: str) -> Rows:
    """Returns {flag: row of the page's table} from a script's --helpxml."""
    return {
        flag.findtext("name") or "": _row(flag)
        for flag in xml.etree.ElementTree.fromstring(helpxml).iter("flag")
        if flag.findtext("key") == "yes"
    }


def _share(tables: dict[str, Rows]) -> dict[tuple[str, ...], Rows]:
    """Finds the flags that several scripts share with the same help.

    Returns {scripts: rows of the flags that exactly these scripts share}. The
    groups with the most scripts come first.
    """
    groups: dict[tuple[str, ...], Rows] = {}
    for name, row in sorted(
        {item for t in tables.values() for item in t.items()}
    ):
        scripts = tuple(
            s for s, rows in tables.items() if rows.get(name) == row
        )
        groups.setdefault(scripts, {})[name] = row
    kept = [s for s, r in groups.items() if len(s) >= _SHARED and len(r) > 1]
    return {scripts: groups[scripts] for scripts in sorted(kept, key=len)[::-1]}


def _title(scripts: tuple[str, ...]) -> str:
    if len(scripts) == len(SCRIPTS):
        return "Every script"
    flows = {script for script in scripts if script.startswith("run_")}
    shown = "training" if "run_pretraining.py" in flows else "fine-tuning"
    others = "" if flows == set(scripts) else " and features"
    number = f", {len(scripts)} scripts"
    return f"Shared by {shown}{others}{number}"


def _table(rows: Rows) -> str:
    return "\n| flag | default | |\n|---|---|---|\n" + "".join(rows.values())


def _command(script: str) -> list[str]:
    """Returns the arguments of `python` that run a script."""
    return [script] if script.endswith(".py") else ["-m", script]


def _row(flag: xml.etree.ElementTree.Element) -> str:
    name, default = flag.findtext("name"), flag.findtext("default") or ""
    meaning = " ".join((flag.findtext("meaning") or "").split())
    values = [value.text or "" for value in flag.findall("enum_value")]
    if values:
        # Remove the valid values, which absl inserts before the help of an
        # enum flag as <a|b>.
        meaning = meaning.removeprefix(f"<{'|'.join(values)}>: ")
    meaning = meaning.replace("|", "\\|")
    if values:
        meaning = f"{', '.join(f'`{value}`' for value in values)}. {meaning}"
    shown = f"`{default}`" if default else ""
    if meaning.startswith(REQUIRED):
        meaning, shown = meaning.removeprefix(REQUIRED), "**required**"
    return f"| `--{name}` | {shown} | {meaning} |\n"


if __name__ == "__main__":
    main()
