"""Who may import whom, read from the source."""

import ast
import graphlib
import importlib
import itertools
import re
import tomllib
from pathlib import Path

import pytest

import modeling
from command_line import script_logs
from model_folders import kinds
from tests.support import fresh_process
from tests.support.golden import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    imported,
    sources,
)

SCRIPTS = sorted(path.stem for path in ROOT.glob("*.py"))

# The packages that each package may import besides itself.
BELOW = {
    "files": set(),
    "imports": set(),
    "command_line": {"files", "imports"},
    "model_folders": {"files", "imports"},
    "modeling": {"files", "imports", "model_folders"},
    "data": {"command_line", "files", "imports", "model_folders"},
    "execution": {
        "command_line",
        "data",
        "files",
        "model_folders",
        "modeling",
    },
    "serving": {
        "command_line",
        "data",
        "files",
        "imports",
        "model_folders",
        "modeling",
    },
    "training": {
        "command_line",
        "data",
        "execution",
        "files",
        "imports",
        "model_folders",
        "modeling",
        "serving",
    },
}


def file_of(name):
    """Returns the path of a module by its dotted name."""
    return (ROOT / Path(*name.split("."))).with_suffix(".py")


def top_level(path):
    """Returns the top-level names of the modules that a file imports."""
    return {name.split(".")[0] for name in imported(path)}


def test_every_list_of_the_packages_names_all_of_them():
    """Else, a new package is not installed, checked or logged, in silence."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    patterns = tools["setuptools"]["packages"]["find"]["include"]
    checked = [name for name in tools["mypy"]["files"] if "*" not in name]
    lists = {
        "packages.find": {name.removesuffix("*") for name in patterns},
        "isort": {*tools["ruff"]["lint"]["isort"]["known-first-party"]},
        "mypy": {*checked},
        "script_logs.py": {*script_logs.PACKAGES},
        "tests": {*PACKAGES, "tools"},
    }
    lists["isort"].remove("tests")
    # These are checked, but neither installed nor imported by the project.
    lists["mypy"] -= {"benchmarks", "tests/support"}
    on_disk = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    for name, packages in lists.items():
        assert packages == on_disk, name


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_packages_below_them(package):
    forbidden = {*PACKAGES, *SCRIPTS, "tools", "tests"}
    forbidden -= BELOW[package] | {package}
    wrong = [path for path in sources(package) if top_level(path) & forbidden]
    check_none(
        wrong,
        f"{package}/ may import only {', '.join(BELOW[package]) or 'nothing'} "
        "(docs/architecture.md). Move what you need further down:",
    )


def test_the_page_states_what_each_package_imports():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)/` \| (nothing|`.*/`) \|$", page, re.M)
    stated = {
        package: {*re.findall(r"`(\w+)/`", names)} for package, names in rows
    }
    assert stated == BELOW
    for package in PACKAGES:
        imports = set().union(*map(top_level, sources(package)))
        assert imports & {*PACKAGES} - {package} == BELOW[package], package


def test_the_page_shows_all_folders_of_the_packages_and_no_files():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    section = page.split("\n### When you look for a folder\n")[1]
    tree = section.split("```text\n")[1].split("```")[0]
    parents = []
    shown = set()
    for line in tree.splitlines():
        indent, name = re.match(r"( *)(\w+)/ ", line).groups()
        parents[len(indent) // 2 :] = [name]
        shown.add("/".join(parents))
    folders = {
        str(path.parent.relative_to(ROOT))
        for package in PACKAGES
        for path in sources(package)
    }
    assert folders <= shown
    assert all((ROOT / folder).is_dir() for folder in shown)


def test_importing_loads_no_tensorflow_and_prints_nothing():
    code = "import sys, data.text.tokenization, serving;"
    code += "import model_folders.reading.presets;"
    code += "assert not {'keras', 'tensorflow'} & {*sys.modules};"
    code += "import logging; assert not logging.root.handlers"
    done = fresh_process.run("-c", code).check()
    assert done.stdout + done.stderr == ""


def command_files():
    """Returns the files of the scripts and the tools."""
    tools = [path for path in sources("tools") if path.stem != "__init__"]
    return [*sorted(ROOT.glob("*.py")), *tools]


def module_of(path):
    """Returns the dotted name of the module in a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def is_import(node):
    """Returns whether a statement is an import."""
    return isinstance(node, (ast.Import, ast.ImportFrom))


def test_scripts_and_tools_do_not_import_each_other():
    commands = {*SCRIPTS, "tools", "tests"}
    wrong = [path for path in command_files() if top_level(path) & commands]
    check_none(wrong, "Move what several commands need into a package:")


def test_a_script_contains_only_its_steps():
    """Its flags and its work are in a package, where tests import them."""
    wrong = []
    for path in command_files():
        docstring, *code = ast.parse(path.read_text()).body
        steps = [node for node in code if not is_import(node)]
        names = [ast.unparse(node).split("(")[0] for node in steps]
        if not isinstance(docstring, ast.Expr) or names != [
            "def main",
            "command = functools.partial",
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
        _, config = importlib.import_module(module_of(path)).command.args
        place = config.__module__.rpartition(".")[2], config.__name__
        expected = "".join(map(str.capitalize, words))
        if place != (f"{'_'.join(words)}_config", f"{expected}Config"):
            wrong.append(f"{path}: {config.__module__}.{config.__name__}")
    check_none(wrong, "Name the Config and its module after the script:")


def test_the_network_runs_on_any_backend_of_keras():
    # Faster forms, where TensorFlow is the backend, and its checkpoints.
    others = (
        ROOT / "modeling/accelerated",
        ROOT / "modeling/checkpoints",
        ROOT / "model_folders/formats",
    )
    wrong = [
        path
        for path in (*sources("model_folders"), *sources("modeling"))
        if path.parent not in others and "tensorflow" in top_level(path)
    ]
    check_none(wrong, "Use keras.ops instead of TensorFlow:")


def test_folders_of_weights_are_read_without_keras():
    wrong = [
        path for path in sources("model_folders") if "keras" in top_level(path)
    ]
    check_none(wrong, "What needs Keras belongs into modeling/:")


def drivers():
    """Returns the files of training that serve any task, or pretraining."""
    of_tasks = {*sources("training/tasks"), *map(file_of, task_configs())}
    return [path for path in sources("training") if path not in of_tasks]


def task_configs():
    """Returns the names of the modules with the flags of one task each."""
    tasks = {f"{path.stem}_config" for path in sources("training/tasks")}
    names = {path.stem for path in sources("training/config")}
    return [f"training.config.{name}" for name in sorted(names & tasks)]


def is_of_pretraining(path):
    """Returns whether a file of training serves only pretraining."""
    names = (path.stem, path.parent.name)
    return any(name.startswith("pretraining") for name in names)


def test_training_imports_no_fine_tuning_task():
    configs = task_configs()
    assert "training.config.squad_config" in configs
    wrong = [
        f"{path}: {name}"
        for path in drivers()
        for name in imported(path)
        if name.startswith("training.tasks") or name in configs
    ]
    check_none(wrong, "Let the script pass the task instead:")


def used_names(path, package):
    """Returns {"PACKAGE.NAME"} of the names of a package that a file uses."""
    attributes = {
        ast.unparse(node)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == package
    }
    return attributes | {*imported(path)}


# Each name in these modules is the model, the loss or the head of a task.
MODULES_OF_TASKS = ("modeling.task_models", "modeling.losses", "modeling.heads")


def test_training_uses_the_network_of_no_task_but_pretraining():
    """Tasks create their own models and losses. Pretraining is BERT's own."""
    # `modeling` has the names of these modules too.
    networks = {
        f"modeling.{name}"
        for name in modeling.__all__
        if getattr(modeling, name).__module__ in MODULES_OF_TASKS
    }
    assert {"modeling.BertClassifier", "modeling.SpanLoss"} <= networks
    wrong = [
        f"{path}: {name}"
        for path in drivers()
        for name in used_names(path, "modeling")
        if name in networks or name.startswith(MODULES_OF_TASKS)
        if not (is_of_pretraining(path) and "Pretrain" in name)
    ]
    check_none(wrong, "Let the task create its model and loss instead:")


def data_folders_of_tasks():
    """Returns the folders of data/ that serve one task each.

    No other folder of data/ imports them.
    """
    shared = {
        name.split(".")[1]
        for path in sources("data")
        for name in imported(path)
        if name.startswith("data.")
        and name.split(".")[1] != path.relative_to(ROOT / "data").parts[0]
    }
    folders = {path.parent.name for path in ROOT.glob("data/*/__init__.py")}
    return folders - shared


def test_training_reads_the_data_of_no_task_but_pretraining():
    """A task reads and scores its examples itself."""
    of_tasks = data_folders_of_tasks()
    assert {"classification", "squad", "pretraining"} <= of_tasks
    wrong = [
        f"{path}: {name}"
        for path in drivers()
        for name in imported(path)
        for folder in of_tasks
        if f"{name}.".startswith(f"data.{folder}.")
        if not (is_of_pretraining(path) and folder == "pretraining")
    ]
    check_none(wrong, "Let the task read and score its examples instead:")


def files_of(name):
    """Returns the files of a module or package by its dotted name."""
    file = file_of(name)
    files = [file, file.with_suffix("") / "__init__.py"]
    return [file for file in files if file.is_file()]


def imported_files(path):
    """Returns the files of this project whose names a file imports anywhere.

    Imports inside functions and under TYPE_CHECKING count too.
    """
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in inner if files_of(name)}
            names |= modules | ({node.module} if modules != inner else set())
    return {file for name in names for file in files_of(name)} - {path}


def test_no_module_imports_itself_in_a_circle():
    paths = [path for package in PACKAGES for path in sources(package)]
    imports = {path: imported_files(path) for path in paths}
    assert len([*graphlib.TopologicalSorter(imports).static_order()]) > 100


# A model loads and saves itself, and checkpoints/ creates models.
_MAY_IMPORT_EACH_OTHER = ("modeling", "modeling/checkpoints")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_folders_of_a_package_import_each_other(package):
    imports = {
        (str(path.parent.relative_to(ROOT)), str(file.parent.relative_to(ROOT)))
        for path in sources(package)
        if path.stem != "__init__"
        for file in imported_files(path)
        if ROOT / package in file.parents and file.stem != "__init__"
    }
    both = {
        (importer, imported_folder)
        for importer, imported_folder in imports
        if importer < imported_folder and (imported_folder, importer) in imports
    }
    check_none(
        both - {_MAY_IMPORT_EACH_OTHER},
        "Let only one of two folders import the other:",
    )


def late_imports(path):
    """Yields (first line, last line) of each import inside a function."""
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    for node in itertools.chain(*map(ast.walk, functions)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node.lineno, node.end_lineno


def test_imports_inside_functions_say_why():
    """They hide from a reader of the first lines what a module needs."""
    unexplained = []
    for path in itertools.chain(*map(sources, PACKAGES)):
        lines = ["", *path.read_text().splitlines()]
        imports = {*late_imports(path)}
        first_of_last = {last: first for first, last in imports}
        for first, _ in imports:
            above = first - 1
            # One comment may explain several imports.
            while above in first_of_last:
                above = first_of_last[above] - 1
            if not lines[above].strip().startswith("# "):
                unexplained.append(f"{path.relative_to(ROOT)}:{first}")
    check_none(
        unexplained, "Import at the top, or say in a comment above why not:"
    )


def test_only_the_command_line_uses_absl_flags():
    """Everything else has fields of a dataclass. Help and `run` read them."""
    paths = [*ROOT.glob("*.py"), *itertools.chain(*map(sources, PACKAGES))]
    users = [path.name for path in paths if "absl.flags" in imported(path)]
    assert sorted(set(users)) == [
        "arguments.py",
        "cli.py",
        "flag_parsing.py",
        "help_pages.py",
    ]


def test_json_is_read_in_one_place():
    """Whatever is in a file is then a value or an error of one line."""
    readers = set()
    folders = map(sources, (*PACKAGES, "tools"))
    for path in (*ROOT.glob("*.py"), *itertools.chain(*folders)):
        # Not what turns this project's own tuples into lists.
        text = path.read_text().replace("json.loads(json.dumps(", "")
        if re.search(r"\bjson\.loads?\b|\bJSONDecoder\b", text):
            readers.add(str(path.relative_to(ROOT)))
    assert readers == {"files/json_files.py"}


KIND_NAMES = {
    *kinds.KIND_OF_CLASS,
    *kinds.CLASS_OF_ARCHITECTURE,
}


def test_only_one_table_names_the_classes_of_models():
    """Other modules look up what depends on the kind of a model."""
    folders = map(sources, (*PACKAGES, "tools"))
    paths = [*ROOT.glob("*.py"), *itertools.chain(*folders)]
    paths.remove(ROOT / "model_folders/kinds.py")
    wrong = [
        f"{path}:{node.lineno}"
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in KIND_NAMES
    ]
    check_none(wrong, "Look the class up in model_folders/kinds.py:")


def mirrored_tests():
    """Returns {file of tests: the folder whose modules it tests}."""
    return {
        path: ROOT / path.parent.relative_to(ROOT / "tests")
        for package in {*PACKAGES, "tools"}
        for path in (ROOT / "tests" / package).rglob("test_*.py")
    }


def test_a_file_of_tests_has_the_name_of_a_module():
    """test_MODULE.py or test_MODULE_ASPECT.py lies where MODULE.py does.

    So who edits data/tables/headers.py finds tests/data/tables/test_headers.py.
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


def test_a_test_file_is_imported_by_no_other_file():
    """So it can change freely."""
    wrong = [
        f"{path}: {name}"
        for path in sources("tests")
        for name in imported(path)
        if re.match(r"tests\.(.*\.)?(test_|conftest)", name)
    ]
    check_none(wrong, "Move what tests share to tests/support/:")


def test_a_file_beside_tests_contains_tests_or_fixtures():
    elsewhere = {"support", "testdata", "recordings"}
    wrong = [
        path
        for path in sources("tests")
        if path.relative_to(ROOT / "tests").parts[0] not in elsewhere
        and not re.match(r"test_|conftest\.py$", path.name)
    ]
    check_none(wrong, "Move what tests share to tests/support/:")
