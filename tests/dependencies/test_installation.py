"""The version, and the commands that install what is missing."""

import sys

import pytest

from dependencies import installation
from tests.support.paths import ROOT


def test_a_checkout_has_the_version_of_its_file():
    version = (ROOT / "VERSION").read_text("utf-8").strip()
    assert installation.read_version() == version


@pytest.mark.parametrize(
    ("package", "file"),
    [
        ("pyarrow", "requirements/tables.txt"),
        ("pyarrow.parquet", "requirements/tables.txt"),
        ("keras", "requirements.txt"),
        (None, "requirements.txt"),
    ],
)
def test_a_checkout_installs_the_file_of_an_extra(package, file):
    command = installation.install_command(package)
    assert command == f"pip install -r {file}"


def test_a_distribution_installs_its_extra(monkeypatch, tmp_path):
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    command = installation.install_command("pyarrow")
    assert command.endswith(' "bert-for-keras[tables]"')


def test_the_text_of_a_script_names_scripts():
    text = "python serve.py --export_dir=x"
    assert installation.with_command_names(text) == text


@pytest.fixture
def installed_command(monkeypatch):
    """The process of the installed command bert-serve, of two commands."""
    commands = {"serve": "bert-serve", "tools.export": "bert-export"}
    monkeypatch.setattr(
        installation, "_list_installed_commands", lambda: commands
    )
    monkeypatch.setattr(sys, "argv", ["/usr/bin/bert-serve", "--help"])


def test_an_installed_command_is_recognized_by_its_name(installed_command):
    assert installation.running_command() == "bert-serve"


def test_a_script_is_not_an_installed_command(installed_command, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["serve.py"])
    assert installation.running_command() is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python serve.py --port=0", "bert-serve --port=0"),
        ("python -m tools.export", "bert-export"),
        ("tools/export.py writes", "bert-export writes"),
        ("examples/serve.py", "examples/serve.py"),
        ("observe.py", "observe.py"),
    ],
)
def test_the_text_of_an_installed_command_names_commands(
    installed_command, text, expected
):
    assert installation.with_command_names(text) == expected
