"""The Dockerfiles of docs/deploy name commands and files that exist."""

import importlib
import re
import shutil
import subprocess
import tomllib

import pytest

from tests.golden import ROOT

DEPLOY = ROOT / "docs" / "deploy"


@pytest.mark.parametrize("name", ["predict", "train"])
def test_a_dockerfile_names_what_is_there(name):
    path = DEPLOY / f"{name}.Dockerfile"
    text = path.read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for command in re.findall(r"\bbert-(?!predict\b|train\b)[\w-]+", text):
        module, function = project["scripts"][command].split(":")
        assert callable(getattr(importlib.import_module(module), function))
    for file in re.findall(r"requirements/\S+", text):
        assert (ROOT / file).is_file()
    # What it makes is not copied into the image.
    assert "output" in (ROOT / ".dockerignore").read_text().split()
    if linter := shutil.which("hadolint"):
        subprocess.run([linter, path], check=True)
