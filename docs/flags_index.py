"""Writes docs/flags.md: every flag of every script, from their --helpxml.

python docs/flags_index.py
"""

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
INTRODUCTION = """\
# Flags

Every script's own flags, from its `--help`. A name without `.py` is run as
`python -m NAME`. `python docs/flags_index.py` writes
this page; a test keeps it up to date. A flag of type bool is given as `--name`
or `--noname`.
"""


def main() -> None:
    """Writes the page."""
    (ROOT / "docs" / "flags.md").write_text(create_page(), encoding="utf-8")


def create_page() -> str:
    """Returns the page as Markdown."""
    processes = [
        subprocess.Popen(
            [sys.executable, *_command(script), "--helpxml"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for script in SCRIPTS
    ]
    parts = [INTRODUCTION]
    for script, process in zip(SCRIPTS, processes, strict=True):
        parts.append(f"\n## {script}\n\n| flag | default | |\n|---|---|---|\n")
        tree = xml.etree.ElementTree.fromstring(process.communicate()[0])
        for flag in tree.iter("flag"):
            if flag.findtext("key") == "yes":
                parts.append(_row(flag))
    return "".join(parts)


def _command(script: str) -> list[str]:
    """Returns what runs a script: its file, or its module with -m."""
    return [script] if script.endswith(".py") else ["-m", script]


def _row(flag: xml.etree.ElementTree.Element) -> str:
    default = flag.findtext("default") or ""
    meaning = " ".join((flag.findtext("meaning") or "").split())
    values = [value.text or "" for value in flag.findall("enum_value")]
    if values:
        # absl puts the values before an enum's help, as <a|b>.
        meaning = meaning.removeprefix(f"<{'|'.join(values)}>: ")
    meaning = meaning.replace("|", "\\|")
    if values:
        meaning = f"{', '.join(f'`{value}`' for value in values)}. {meaning}"
    shown = f"`{default}`" if default else ""
    return f"| `--{flag.findtext('name')}` | {shown} | {meaning} |\n"


if __name__ == "__main__":
    main()
