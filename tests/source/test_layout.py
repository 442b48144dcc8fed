"""Where files stand, and which lists name them."""

import ast
import itertools
import re
import tomllib

import pytest

from terminal import logs
from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    parse_source,
    sources,
)


def test_every_list_of_the_packages_names_all_of_them():
    """Else, a new package is not installed, checked or logged, in silence."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    patterns = tools["setuptools"]["packages"]["find"]["include"]
    checked = [name for name in tools["mypy"]["files"] if "*" not in name]
    lists = {
        "packages.find": {name.removesuffix("*") for name in patterns},
        "isort": {*tools["ruff"]["lint"]["isort"]["known-first-party"]},
        "mypy": {*checked},
        "logs.py": {*logs.PACKAGES},
        "tests": {*PACKAGES, "tools"},
    }
    lists["isort"].remove("tests")
    # These are checked, but neither installed nor imported by the project.
    lists["mypy"] -= {"benchmarks", "tests/recordings", "tests/support"}
    on_disk = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    for name, packages in lists.items():
        assert packages == on_disk, name


# A module or a package, where the docstring of a package lists them.
LISTED_IN_DOCSTRING = re.compile(r"^    (\w+(?:\.py|/)): ", re.M)


@pytest.mark.parametrize(
    "package",
    [
        str(path.parent.relative_to(ROOT))
        for folder in (*PACKAGES, "tools")
        for path in sources(folder)
        if path.name == "__init__.py"
    ],
)
def test_a_package_lists_its_modules_and_packages(package):
    """Else, the first page of a package would name files that are gone."""
    folder = ROOT / package
    code = parse_source(folder / "__init__.py").tree
    listed = LISTED_IN_DOCSTRING.findall(ast.get_docstring(code))
    modules = [path.name for path in folder.glob("*.py")]
    # A folder that Git emptied still contains __pycache__.
    folders = {f"{path.parent.name}/" for path in folder.glob("[a-z]*/*.*")}
    modules.remove("__init__.py")
    assert sorted(listed) == sorted([*modules, *folders])


# A folder with its slash, in a sentence: "in exporting/".
FOLDER_IN_PROSE = re.compile(r"(?<![\w/.])(?:[a-z_]+/)+(?![\w{<*.])")
# Folders of a user, or of an export, which are none of the project's.
FOLDERS_OF_USERS = {"assets/", "onnx/", "variables/"}


@pytest.mark.parametrize("folder", [*PACKAGES, "tools"])
def test_docstrings_of_packages_name_folders_that_exist(folder):
    """Else, a reader would look for a folder that was moved."""
    wrong = []
    for path in sources(folder):
        if path.name != "__init__.py":
            continue
        docstring = ast.get_docstring(parse_source(path).tree)
        # A package names its own folders, or one of a folder around it.
        around = [*itertools.takewhile(ROOT.__ne__, path.parents), ROOT]
        wrong += [
            f"{path}: {name}"
            for name in FOLDER_IN_PROSE.findall(docstring)
            if name not in FOLDERS_OF_USERS
            and not any((above / name).is_dir() for above in around)
        ]
    check_none(wrong, "There is no such folder. Write its new name:")


def command_files():
    """Returns the files of the scripts and the tools."""
    files = [*sorted(ROOT.glob("*.py")), *sorted(ROOT.glob("tools/*.py"))]
    return [path for path in files if path.stem != "__init__"]


def is_import(node):
    """Returns whether a statement is an import."""
    return isinstance(node, (ast.Import, ast.ImportFrom))


def test_a_script_contains_only_its_steps():
    """Else, a test could not import its work without its flags."""
    wrong = []
    for path in command_files():
        docstring, *code = parse_source(path).tree.body
        steps = [node for node in code if not is_import(node)]
        names = [ast.unparse(node).split("(")[0] for node in steps]
        if not isinstance(docstring, ast.Expr) or names != [
            "def main",
            "command = cli.Command",
            "if __name__ == '__main__':\n    command",
        ]:
            wrong.append(path)
    check_none(
        wrong,
        "Leave the docstring, main and command, and move all else "
        "(docs/common_changes.md, If you add a flag):",
    )
