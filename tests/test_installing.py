"""pip installs every script, and all that scripts need."""

import os
import re
import subprocess
import sys
import tomllib

import pytest

from tests.support.golden import ROOT
from tests.support.script_runner import SCRIPTS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def test_every_script_is_installed_and_is_a_command():
    modules = [script for script in SCRIPTS if "." not in script]
    assert sorted(SETUPTOOLS["py-modules"]) == modules
    commands = {
        f"bert-{script.rpartition('.')[2].replace('_', '-')}": (
            f"{script}:command"
        )
        for script in SCRIPTS
    }
    assert PROJECT["project"]["scripts"] == commands


def test_every_package_is_installed():
    included = {
        pattern.removesuffix("*")
        for pattern in SETUPTOOLS["packages"]["find"]["include"]
    }
    packages = {path.parent for path in ROOT.glob("*/__init__.py")}
    assert included == {package.name for package in packages}
    for package in packages:
        for source in package.rglob("*.py"):
            assert (source.parent / "__init__.py").is_file(), source


def test_pages_and_templates_are_installed():
    patterns = {
        path
        for package, names in SETUPTOOLS["package-data"].items()
        for name in names
        for path in (ROOT / package.replace(".", "/")).glob(name)
    }
    found = {
        path
        for package in ROOT.glob("*/__init__.py")
        for path in package.parent.rglob("*.*")
        if path.suffix in (".html", ".css", ".jinja", ".js", ".json", ".svg")
    } - {*(ROOT / "tests").rglob("*")}
    assert found and found <= patterns


BLOCK = """
import runpy, sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name in ("jinja2", "keras", "tensorflow"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Block())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_missing_package_is_one_line(tmp_path):
    """As in an environment of requirements/predict.txt."""
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]")
    (tmp_path / "tiny.json").write_text('{"vocab_size": 5}')
    flags = "--task_name=cola --data_dir=. --output_dir=run --do_train"
    flags += " --vocab_file=vocab.txt --bert_config_file=tiny.json"
    script = [ROOT / "run_classifier.py", *flags.split(), "--do_lower_case"]
    done = subprocess.run(
        [sys.executable, "-c", BLOCK, *script, "--max_seq_length=8"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ") and last.endswith(" -r requirements.txt")


def test_the_version_is_the_same_everywhere():
    version = (ROOT / "VERSION").read_text().strip()
    assert SETUPTOOLS["dynamic"]["version"] == {"file": "VERSION"}
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    changes = (ROOT / "docs/changelog.md").read_text(encoding="utf-8")
    assert f"\n## {version}\n" in changes


@pytest.mark.parametrize("name", ["predict", "train"])
def test_a_dockerfile_names_what_is_installed(name):
    text = (ROOT / f"docs/deploy/{name}.Dockerfile").read_text()
    # bert-predict and bert-train are also the images' names.
    named = re.findall(r"\bbert-(?!predict\b|train\b)[\w-]+", text)
    assert {*named} <= PROJECT["project"]["scripts"].keys()
    for file in re.findall(r"requirements/\S+", text):
        assert (ROOT / file).is_file()
    # The output folder is not copied into an image.
    assert "output" in (ROOT / ".dockerignore").read_text().split()
