"""Who may import whom, read from the source."""

import ast
import graphlib
import itertools
import re
from pathlib import Path

import pytest

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
        if path.name == "pretraining.py":
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


def test_the_page_on_the_layout_names_every_module_of_training():
    page = (ROOT / "docs/architecture.md").read_text()
    _, table = page.split("## The rooms of training/")
    table, *_ = table.split("\n## ")
    rows = {}
    for line in table.strip().splitlines()[4:]:
        _, room, _, named, _ = line.split("|")
        rows[room.strip(" `/")] = set(re.findall(r"`(\w+)`", named))
    shelf = rows.pop("the shelf")
    training = ROOT / "training"
    assert shelf | {"__init__"} == {path.stem for path in training.glob("*.py")}
    for room, named in rows.items():
        assert named | {"__init__"} == {
            path.stem for path in (training / room).glob("*.py")
        }
    assert set(rows) == set(order_of_rooms("training"))


def order_of_rooms(package):
    """Returns a package's rooms, those that others import first.

    Raises:
        graphlib.CycleError: they import each other in a circle.
    """
    rooms = {path.parent for path in (ROOT / package).glob("*/__init__.py")}
    imports = {
        room.name: {
            name.split(".")[1]
            for source in room.rglob("*.py")
            for name in modules(source, package)
            # Not what is on the shelf.
            if name.count(".") > 1
        }
        - {room.name}
        for room in rooms
    }
    return [*graphlib.TopologicalSorter(imports).static_order()]


@pytest.mark.parametrize(
    "package, rooms",
    [
        ("data", "classification io ner pretraining squad text"),
        ("training", "command_line curves optimizers outputs steps tasks"),
    ],
)
def test_rooms_have_no_circles(package, rooms):
    assert sorted(order_of_rooms(package)) == rooms.split()


def test_the_shelf_of_training_imports_no_room():
    for path in (ROOT / "training").glob("*.py"):
        for name in modules(path, "training"):
            assert name.count(".") == 1, path


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
