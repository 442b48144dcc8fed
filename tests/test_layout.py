"""Who may import whom, read from the source."""

import ast
import graphlib
import itertools
import re
from pathlib import Path

import pytest

from tests import script_runner
from tests.golden import ROOT

PACKAGES = ("files", "modeling", "data", "training", "serving")
SCRIPTS = sorted(path.stem for path in ROOT.glob("*.py"))

# Of this project's own packages, those that each may import.
ALLOWED = {
    "files": {"files"},
    "modeling": {"modeling", "files"},
    "data": {"data", "files"},
    "training": {"training", "modeling", "data", "files"},
    "serving": {"serving", "modeling", "data", "training", "files"},
}


def sources(folder):
    return sorted((ROOT / folder).rglob("*.py"))


def imported(path):
    """Yields the dotted name of every module that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(path, package):
    """Returns the modules of a package that a file imports, dotted."""
    return {
        name
        for name in imported(path)
        if (ROOT / Path(*name.split("."))).with_suffix(".py").is_file()
        and name.startswith(f"{package}.")
    }


def top_level(path):
    return {name.split(".")[0] for name in imported(path)}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_downwards_only(package):
    forbidden = {*PACKAGES, *SCRIPTS, "tests"} - ALLOWED[package]
    for path in sources(package):
        assert not top_level(path) & forbidden, path


def test_scripts_do_not_import_each_other():
    for script in SCRIPTS:
        path = ROOT / f"{script}.py"
        assert not top_level(path) & {*SCRIPTS, "tests"}, path


def test_the_network_runs_on_any_backend_of_keras():
    for path in sources("modeling"):
        # Faster forms, where TensorFlow is the backend, and its checkpoints.
        if not {"accelerated", "checkpoints"} & {*path.parts}:
            assert "tensorflow" not in top_level(path), path


TASKS = ("modeling.tasks", "modeling.losses", "modeling.heads")


def names_of_tasks():
    """Returns the models, losses and heads that `import modeling` gives."""
    return {
        alias.name
        for node in ast.walk(
            ast.parse((ROOT / "modeling/__init__.py").read_text())
        )
        if isinstance(node, ast.ImportFrom) and node.module in TASKS
        for alias in node.names
    }


def test_training_names_no_task_but_pretraining():
    # Scripts name the models, losses and heads. Pretraining is BERT's own.
    names = names_of_tasks()
    assert {"BertClassifier", "ClassifierLoss"} <= names
    for path in sources("training"):
        assert not any(name.startswith(TASKS) for name in imported(path)), path
        used = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "modeling"
        }
        used |= {
            name.removeprefix("modeling.")
            for name in imported(path)
            if name.startswith("modeling.")
        }
        allowed = set()
        if path == ROOT / "training/tasks/pretraining.py":
            allowed = {"BertPretrainer", "PretrainingLoss"}
        assert used & names == allowed, path


def test_training_takes_only_records_from_data():
    # A task is read and scored by its script, never by a driver.
    records = (
        "data.io.feature_specs",
        "data.io.record_checks",
        "data.io.tfrecords",
        "data.pretraining.dynamic_masking",
        "data.pretraining.filled_masks",
        "data.pretraining.options",
    )
    for path in sources("training"):
        for name in modules(path, "data"):
            assert name.startswith(records), path


def rooms_imported(paths, package):
    """Returns the names of a package's folders that files import from."""
    rooms = {
        path.parent.name for path in (ROOT / package).glob("*/__init__.py")
    }
    names = (name.split(".") for path in paths for name in imported(path))
    return rooms & {
        name[1] for name in names if name[0] == package and name[1:]
    }


def order_of_rooms(package):
    """Returns {room: rooms it imports}, those that import nothing first.

    Raises:
        graphlib.CycleError: they import each other in a circle.
    """
    imports = {
        path.parent.name: rooms_imported(path.parent.rglob("*.py"), package)
        - {path.parent.name}
        for path in (ROOT / package).glob("*/__init__.py")
    }
    order = graphlib.TopologicalSorter(imports).static_order()
    return {room: imports[room] for room in order}


@pytest.mark.parametrize(
    "package, rooms",
    [
        ("data", "classification io ner pretraining squad text"),
        ("training", "command_line curves optimizers outputs steps tasks"),
    ],
)
def test_rooms_have_no_circles(package, rooms):
    assert sorted(order_of_rooms(package)) == rooms.split()
    # What lies next to the rooms is for all of them.
    assert not rooms_imported((ROOT / package).glob("*.py"), package)


def test_the_page_on_the_layout_has_training_as_it_is():
    page = (ROOT / "docs/architecture.md").read_text()
    _, table = page.split("## The rooms of training/")
    table, *_ = table.split("\n## ")
    rows = {}
    for line in table.strip().splitlines()[5:]:
        _, room, _, named, _ = line.split("|")
        rows[room.strip(" `/")] = set(re.findall(r"`(\w+)`", named))
    folders = {room: ROOT / "training" / room for room in rows}
    folders["the shelf"] = ROOT / "training"
    for room, named in rows.items():
        found = {path.stem for path in folders[room].glob("*.py")}
        assert named == found - {"__init__"}
    rooms = [room for room in rows if room != "the shelf"]
    imports = order_of_rooms("training")
    assert set(rooms) == set(imports)
    for index, room in enumerate(rooms):
        assert imports[room] <= set(rooms[index + 1 :]), room


def test_processes_of_tests_preload_modules_that_exist():
    # A name that cannot be imported is only slower.
    for name in script_runner.PRELOADED:
        path = Path(*name.split("."))
        if path.parts[0] in (*PACKAGES, "tests"):
            assert (ROOT / path).with_suffix(".py").is_file(), name


def test_only_modules_of_flags_know_flags():
    """Everything else gets options."""
    for package in PACKAGES:
        for path in sources(package):
            if not path.stem.endswith("flags") and path.name != "cli.py":
                assert "absl.flags" not in imported(path), path


def test_json_is_read_in_one_place():
    """Whatever is in a file is then a value or an error of one line."""
    # A server answers as TensorFlow Serving does.
    others = {"files/json_files.py", "serving/server/protocol.py"}
    found = set()
    for path in (*ROOT.glob("*.py"), *itertools.chain(*map(sources, PACKAGES))):
        # Not what turns this project's own tuples into lists.
        text = path.read_text().replace("json.loads(json.dumps(", "")
        if re.search(r"\bjson\.loads?\b|\bJSONDecoder\b", text):
            found.add(str(path.relative_to(ROOT)))
    assert found == others


def test_the_import_rules_look_at_something():
    assert len(SCRIPTS) >= 5
    for package in PACKAGES:
        assert len(sources(package)) >= 2
