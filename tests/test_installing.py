"""pip installs every script, and all that scripts need."""

import tomllib

from tests.golden import ROOT
from tests.script_runner import SCRIPTS

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
        if path.suffix in (".html", ".css", ".js", ".json", ".svg")
    } - {*(ROOT / "tests").rglob("*")}
    assert found and found <= patterns


def test_the_version_is_the_same_everywhere():
    version = (ROOT / "VERSION").read_text().strip()
    assert SETUPTOOLS["dynamic"]["version"] == {"file": "VERSION"}
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    changes = (ROOT / "docs/changelog.md").read_text(encoding="utf-8")
    assert f"\n## {version}\n" in changes


def test_requirements_are_listed_once():
    dynamic = SETUPTOOLS["dynamic"]
    assert dynamic["dependencies"] == {"file": ["requirements.txt"]}
    extras = {
        name: f"requirements/{name}.txt"
        for name in dynamic["optional-dependencies"]
    }
    assert set(extras.values()) == {
        str(path.relative_to(ROOT)) for path in ROOT.glob("requirements/*.txt")
    }
    for name, file in extras.items():
        assert dynamic["optional-dependencies"][name] == {"file": [file]}
