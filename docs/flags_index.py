"""Writes docs/flags.md, a list of all flags of all scripts.

    python docs/flags_index.py

Reads the flags from the Config of each script's `command`.
"""

import dataclasses
import importlib
import re
import sys
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from command_line import cli, help_pages  # noqa: E402
from command_line.flags import CommonConfig  # noqa: E402
from options.config import Config  # noqa: E402
from options.declared_options import Option  # noqa: E402

SCRIPTS = [
    "tools.create_vocabulary",
    "create_pretraining_data.py",
    "run_pretraining.py",
    "run_classifier.py",
    "run_squad.py",
    "run_ner.py",
    "run_swag.py",
    "extract_features.py",
    "tools.convert_checkpoint",
    "tools.export",
    "predict.py",
    "tools.plot_runs",
    "tools.results_table",
    "serve.py",
]
# Minimum number of scripts that share a table of flags.
_SHARED = 3
INTRODUCTION = """\
# Flags

Every flag of every script, as `--helpfull` prints it. `--help` prints the
groups data, model, training and output. Flags that several scripts share come
first, then each script's own. Run a script without `.py` in its name as
`python -m NAME`. Set a Boolean flag to true with `--name`, and to false
with `--noname`.

<!-- Written by docs/flags_index.py. -->
"""
Rows: TypeAlias = dict[str, str]


def main() -> None:
    """Writes docs/flags.md."""
    (ROOT / "docs" / "flags.md").write_text(create_page(), encoding="utf-8")


def create_page() -> str:
    """Returns the contents of docs/flags.md."""
    tables = read_flags()
    parts = [INTRODUCTION]
    shared = _share(tables)
    for scripts, rows in shared.items():
        names = ", ".join(f"`{script}`" for script in scripts)
        parts += [
            f"\n## {_title(scripts)}\n\nScripts: {names}.\n",
            _table(rows),
        ]
    for script, rows in tables.items():
        links = [
            f"[{title}](#{re.sub('[^a-z0-9]+', '-', title.lower())})"
            for title in map(
                _title, (scripts for scripts in shared if script in scripts)
            )
        ]
        own = {
            name: row
            for name, row in rows.items()
            if not any(
                script in scripts and name in shared_rows
                for scripts, shared_rows in shared.items()
            )
        }
        parts.append(f"\n## {script}\n\nShared flags: {', '.join(links)}.\n")
        parts.append(_table(own))
    return "".join(parts)


def read_flags() -> dict[str, Rows]:
    """Returns {script: {flag: Markdown table row}} of all scripts."""
    return {script: _rows(script) for script in SCRIPTS}


def _rows(script: str) -> Rows:
    """Returns {flag: Markdown table row} for the flags of a script."""
    flags_of_script = [
        flag
        for config in (find_config(script), CommonConfig)
        for flag in config.list_options()
    ]
    flags_of_script.sort(key=lambda flag: flag.name)
    return {flag.name: _row(flag) for flag in flags_of_script}


def find_config(script: str) -> type[Config]:
    """Returns the class of the flags of a script, such as SquadConfig."""
    module = importlib.import_module(script.removesuffix(".py"))
    command: cli.Command[Config] = module.command
    return command.config_class


def _share(tables: dict[str, Rows]) -> dict[tuple[str, ...], Rows]:
    """Groups the flags that several scripts define with equal table rows.

    Returns {scripts: rows of the flags that exactly these scripts share}. The
    groups with the most scripts come first.
    """
    groups: dict[tuple[str, ...], Rows] = {}
    for name, row in sorted(
        {item for table in tables.values() for item in table.items()}
    ):
        scripts = tuple(
            script for script, rows in tables.items() if rows.get(name) == row
        )
        groups.setdefault(scripts, {})[name] = row
    kept = [
        scripts
        for scripts, rows in groups.items()
        if len(scripts) >= _SHARED and len(rows) > 1
    ]
    return {scripts: groups[scripts] for scripts in sorted(kept, key=len)[::-1]}


def _title(scripts: tuple[str, ...]) -> str:
    if len(scripts) == len(SCRIPTS):
        return "Every script"
    flows = {script for script in scripts if script.startswith("run_")}
    shown = "training" if "run_pretraining.py" in flows else "fine-tuning"
    others = " and features" if "extract_features.py" in scripts else ""
    others += " and exports" if "tools.export" in scripts else ""
    number = f", {len(scripts)} scripts"
    return f"Shared by {shown}{others}{number}"


def _table(rows: Rows) -> str:
    lines = ["\n| flag | default | |\n|---|---|---|\n"]
    for title in (*help_pages.FLAGS_OF_SECTION, "more"):
        group = [
            rows[name] for name in rows if help_pages.section_of(name) == title
        ]
        if group and len(group) < len(rows):
            lines.append(f"| **{title}** | | |\n")
        lines += group
    return "".join(lines)


def _row(flag: Option) -> str:
    text = flag.help
    if flag.choices:
        choices = ", ".join(f"`{choice}`" for choice in flag.choices)
        text = f"{choices}. {text}"
    text = text.replace("|", "\\|")
    shown = f"`{flag.default}`"
    if flag.default is dataclasses.MISSING:
        shown = "**required**"
    elif flag.default in (None, (), ""):
        shown = ""
    elif isinstance(flag.default, bool):
        shown = f"`{flag.default}`".lower()
    return f"| `--{flag.name}` | {shown} | {text} |\n"


if __name__ == "__main__":
    main()
