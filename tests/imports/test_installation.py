"""The version, and the commands that install what is missing."""

import pytest

from imports import installation
from tests.support.golden import ROOT


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
