"""Where files stand, and which lists name them."""

import ast
import importlib
import itertools
import re
import tomllib

import pytest

from terminal import logs
from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    imported,
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
    lists["mypy"] -= {"benchmarks", "tests/support"}
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
    """Whoever adds, moves or removes a file changes the list beside it."""
    folder = ROOT / package
    code = parse_source(folder / "__init__.py").tree
    listed = LISTED_IN_DOCSTRING.findall(ast.get_docstring(code))
    modules = [path.name for path in folder.glob("*.py")]
    # A folder that Git emptied still contains __pycache__.
    folders = {f"{path.parent.name}/" for path in folder.glob("[a-z]*/*.*")}
    modules.remove("__init__.py")
    assert sorted(listed) == sorted([*modules, *folders])


def test_the_page_of_the_helpers_of_tests_lists_each_once():
    folder = ROOT / "tests/support"
    page = (folder / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- `([\w/]+\.py)`: ", page, re.M)
    files = [str(path.relative_to(folder)) for path in sources("tests/support")]
    assert sorted(listed) == sorted(files)
    compared = re.findall(r"\| `([\w/]+\.py)` \|", page)
    assert compared
    assert {*compared} < {*listed}


def command_files():
    """Returns the files of the scripts and the tools."""
    files = [*sorted(ROOT.glob("*.py")), *sorted(ROOT.glob("tools/*.py"))]
    return [path for path in files if path.stem != "__init__"]


def module_of(path):
    """Returns the dotted name of the module in a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def is_import(node):
    """Returns whether a statement is an import."""
    return isinstance(node, (ast.Import, ast.ImportFrom))


def test_a_script_contains_only_its_steps():
    """Its flags and its work are in a package, where tests import them."""
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


def test_the_flags_of_a_script_are_in_a_module_that_is_named_after_it():
    """So who knows the script finds its flags, and the other way round."""
    wrong = []
    for path in command_files():
        words = path.stem.split("_")
        if words[0] in ("run", "create"):
            words = words[1:]
        config = importlib.import_module(module_of(path)).command.config_class
        place = config.__module__.rpartition(".")[2], config.__name__
        expected = "".join(map(str.capitalize, words))
        if place != (f"{'_'.join(words)}_config", f"{expected}Config"):
            wrong.append(f"{path}: {config.__module__}.{config.__name__}")
    check_none(wrong, "Name the Config and its module after the script:")


def mirrored_tests():
    """Returns {file of tests: the folder whose modules it tests}."""
    return {
        path: ROOT / path.parent.relative_to(ROOT / "tests")
        for package in {*PACKAGES, "tools"}
        for path in (ROOT / "tests" / package).rglob("test_*.py")
    }


def test_a_file_of_tests_has_the_name_of_a_module():
    """test_MODULE.py or test_MODULE_ASPECT.py lies where MODULE.py does.

    So who edits data/tables/rows.py finds tests/data/tables/test_rows.py.
    """
    strange = []
    for path, folder in mirrored_tests().items():
        modules = {module.stem for module in folder.glob("*.py")}
        words = path.stem.removeprefix("test_").split("_")
        names = {"_".join(words[:end]) for end in range(1, len(words) + 1)}
        if not names & modules:
            strange.append(str(path.relative_to(ROOT)))
    check_none(
        strange, "Name the file test_MODULE.py or test_MODULE_ASPECT.py:"
    )


def test_a_test_of_a_script_is_named_after_the_script():
    """test_SCRIPT.py or test_SCRIPT_ASPECT.py, as for modules."""
    scripts = tuple(f"test_{path.stem}_" for path in ROOT.glob("*.py"))
    wrong = [
        path
        for path in (ROOT / "tests/scripts").glob("*.py")
        if not f"{path.stem}_".startswith(scripts)
    ]
    check_none(wrong, "Name the script, or move to tests/across_scripts/:")


def runs_code(path):
    """Returns whether a function of a module has a body.

    Modules of flags have no function, and those of types only `...`.
    """
    return any(
        not isinstance(statement, ast.Expr)
        for node in ast.walk(parse_source(path).tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for statement in node.body
    )


def test_each_module_has_tests():
    """A test imports the module, or test_MODULE.py lies where it should."""
    tests = [path for path in sources("tests") if "test_" in path.name]
    tested = {name for path in tests for name in imported(path)}
    mirrored = {
        (folder, path.stem) for path, folder in mirrored_tests().items()
    }
    wrong = {
        str(path.relative_to(ROOT))
        for path in itertools.chain(*map(sources, (*PACKAGES, "tools")))
        if path.name != "__init__.py"
        and runs_code(path)
        and module_of(path) not in tested
        and not any(
            folder == path.parent
            and f"{stem}_".startswith(f"test_{path.stem}_")
            for folder, stem in mirrored
        )
    }
    check_none(
        sorted(wrong),
        "Import the module in a test, best in test_MODULE.py of its folder:",
    )
