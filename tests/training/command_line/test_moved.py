"""A script that has moved and a flag that is gone name their successors."""

import importlib
import re
import subprocess
import sys

import pytest

from tests import script_runner
from tests.golden import ROOT
from training.command_line import moved

STUBS = [name for name in moved.SCRIPTS if name not in script_runner.SCRIPTS]


@pytest.mark.parametrize("name", STUBS)
def test_a_script_that_moved_names_its_successor(name):
    # Without the packages of an environment, and from any folder.
    done = subprocess.run(
        [sys.executable, "-S", ROOT / f"{name}.py", "--input_file=a"],
        cwd=ROOT.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"error: {name}.py is now {moved.SCRIPTS[name]}\n"


def test_an_import_of_a_script_that_moved_names_its_successor():
    with pytest.raises(ImportError, match="python -m tools.create_vocabulary"):
        importlib.import_module("create_vocabulary")


def test_every_file_of_the_top_level_is_a_script_or_a_stub():
    top_level = {path.stem for path in ROOT.glob("*.py")}
    assert top_level - {*script_runner.SCRIPTS} == {*STUBS}


def test_successors_exist():
    for text in moved.SCRIPTS.values():
        for _, path in re.findall(r"`(python -m|bash) (\S+?)`", text):
            file = path if "/" in path else f"{path.replace('.', '/')}.py"
            assert (ROOT / file).is_file()


def test_a_removed_flag_names_its_successor(monkeypatch):
    monkeypatch.setitem(moved.FLAGS, "run_ner", {"old": "pass --new"})
    for command in ("/x/run_ner.py", "/bin/bert-run-ner"):
        found = moved.find_flag(command, "old")
        assert found == "--old was removed: pass --new"
        assert moved.find_flag(command, "noold").endswith("pass --new")
        assert moved.find_flag(command, "other") is None
    assert moved.find_flag("/x/run_squad.py", "old") is None


def test_the_flag_parser_answers_with_the_successor(tmp_path):
    script = tmp_path / "run_ner.py"
    script.write_text(
        f"import dataclasses, sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from training.command_line import cli, moved\n"
        "moved.FLAGS['run_ner'] = {'old': 'pass --new'}\n"
        "@dataclasses.dataclass\nclass Config: pass\n"
        "cli.run(print, Config)\n"
    )
    done = script_runner.run(script, tmp_path, "--old=1")
    assert done.error == "error: --old was removed: pass --new"
    done = script_runner.run(script, tmp_path, "--newer=1")
    assert done.error.startswith("error: Unknown command line flag 'newer'")
