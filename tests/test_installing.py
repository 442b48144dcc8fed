"""pip installs every script, and all that scripts need."""

import ast
import tomllib

from tests.golden import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]
SCRIPTS = sorted(path.stem for path in ROOT.glob("*.py"))


def test_every_script_is_installed_and_is_a_command():
    assert sorted(SETUPTOOLS["py-modules"]) == SCRIPTS
    commands = {
        f"bert-{script.replace('_', '-')}": f"{script}:command"
        for script in SCRIPTS
    }
    assert PROJECT["project"]["scripts"] == commands
    for script in SCRIPTS:
        tree = ast.parse((ROOT / f"{script}.py").read_text())
        functions = {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef)
        }
        assert "command" in functions, script


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
