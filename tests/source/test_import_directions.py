"""Which package, folder and module may import which, read from the source."""

import ast
import graphlib
import itertools
import re

import pytest

import modeling
from tests.support import fresh_process
from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    files_of,
    imported,
    parse_source,
    sources,
)

SCRIPTS = sorted(path.stem for path in ROOT.glob("*.py"))
TOOLS = sorted(
    f"tools.{path.stem}"
    for path in ROOT.glob("tools/*.py")
    if path.stem != "__init__"
)

# The packages that each package may import besides itself.
BELOW = {
    "dependencies": set(),
    "files": set(),
    "terminal": {"dependencies"},
    "options": {"files"},
    "command_line": {"dependencies", "files", "options", "terminal"},
    "model_folders": {"dependencies", "files"},
    "modeling": {"dependencies", "files", "model_folders"},
    "data": {
        "dependencies",
        "files",
        "model_folders",
        "options",
        "terminal",
    },
    "exporting": {
        "data",
        "dependencies",
        "files",
        "model_folders",
        "modeling",
        "options",
    },
    "serving": {
        "data",
        "dependencies",
        "exporting",
        "files",
        "model_folders",
        "options",
        "terminal",
    },
    "training": {
        "data",
        "dependencies",
        "exporting",
        "files",
        "model_folders",
        "modeling",
        "options",
        "serving",
        "terminal",
    },
}


def top_level_imports(path):
    """Returns the top-level names of the modules that a file imports."""
    return {name.split(".")[0] for name in imported(path)}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_packages_below_them(package):
    """Else, a package could not be used, or read, without all others."""
    forbidden = {*PACKAGES, *SCRIPTS, "tools", "tests"}
    forbidden -= BELOW[package] | {package}
    wrong = [
        path for path in sources(package) if top_level_imports(path) & forbidden
    ]
    check_none(
        wrong,
        f"{package}/ may import only {', '.join(BELOW[package]) or 'nothing'} "
        "(docs/code_reference.md). Move what you need further down:",
    )


def imported_of(package, importer):
    """Yields (file, module) where a package imports modules of another."""
    for path in sources(importer):
        for node in ast.walk(parse_source(path).tree):
            if isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                modules = {name for name in names if files_of(name)}
                for module in modules or {str(node.module)}:
                    if module.split(".")[0] == package:
                        yield path, module


def test_training_imports_only_the_engines_of_serving():
    """Else, training would depend on the server."""
    wrong = [
        f"{path}: {module}"
        for path, module in imported_of("serving", "training")
        if module != "serving.engines"
    ]
    check_none(wrong, "Offer the name in serving/engines/__init__.py:")


# Of exporting/, serving/ needs these modules, which describe an export.
_DESCRIBES_EXPORTS = {
    "exporting.export_checksums",
    "exporting.export_formats",
}


def test_serving_imports_only_what_describes_an_export():
    """Else, a server would load what writes exports, and TensorFlow with it."""
    wrong = [
        f"{path}: {module}"
        for path, module in imported_of("exporting", "serving")
        if module not in _DESCRIBES_EXPORTS
    ]
    check_none(wrong, "Only what writes an export needs this module:")


def test_the_page_states_what_each_package_imports():
    """Else, a reader of the page would trust an old table."""
    page = (ROOT / "docs/code_reference.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)/` \| (nothing|`.*/`) \|$", page, re.M)
    stated = {
        package: {*re.findall(r"`(\w+)/`", names)} for package, names in rows
    }
    assert stated == BELOW
    for package in PACKAGES:
        imports = set().union(*map(top_level_imports, sources(package)))
        assert imports & {*PACKAGES} - {package} == BELOW[package], package


# Packages, with all their modules, and modules that load no TensorFlow. So
# --help, wrong flags and wrong files show quickly, and an export in LiteRT or
# ONNX needs no TensorFlow.
WITHOUT_TENSORFLOW = (
    "command_line",
    "data.text.tokenization",
    "dependencies",
    "exporting.export_checksums",
    "exporting.export_formats",
    "exporting.export_options",
    "files",
    "model_folders",
    "model_folders.cards",
    "model_folders.reading",
    "options",
    "serving",
    "terminal",
    "training.config",
    "training.dev_set",
    "training.extraction.extract_features_config",
    "training.extraction.extraction_setup",
    "training.preparation",
    "training.pretraining.record_decisions",
    "training.run_files.model_description",
    "training.run_files.result_files",
    "training.run_files.run_folder",
    "training.tasks",
)


def modules_of(name):
    """Returns the names of a module, or of a package and its modules."""
    modules = [
        f"{name}.{path.stem}"
        for path in (ROOT / name.replace(".", "/")).glob("*.py")
        if path.stem != "__init__"
    ]
    return [name, *sorted(modules)]


def test_importing_loads_no_tensorflow_and_prints_nothing():
    """Else, --help and a wrong flag would show only after seconds."""
    # In one process, where an error names the first module that loads it.
    names = [*itertools.chain(*map(modules_of, WITHOUT_TENSORFLOW))]
    code = f"""
import importlib, logging, sys
for name in {names}:
    importlib.import_module(name)
    assert not {{"keras", "tensorflow"}} & {{*sys.modules}}, name
assert not logging.root.handlers
"""
    done = fresh_process.run("-c", code).check()
    assert done.stdout + done.stderr == ""


def test_importing_modeling_loads_no_keras():
    """Else, KERAS_BACKEND could not be set after the import."""
    code = "import modeling, sys; assert 'keras' not in sys.modules"
    fresh_process.run("-c", code).check()


def test_a_tokenizer_needs_no_reader_of_folders():
    """Only `FullTokenizer.from_preset` reads the folder of a model."""
    code = """
import sys
import data.text.tokenization
assert "model_folders.reading" not in sys.modules
"""
    fresh_process.run("-c", code).check()


def test_scripts_and_tools_do_not_import_each_other():
    """Else, a change of one command could break another."""
    commands = {*SCRIPTS, *TOOLS, "tests"}
    wrong = [
        f"{path}: {name}"
        for path in (*ROOT.glob("*.py"), *sources("tools"))
        for name in {*imported(path)} | top_level_imports(path)
        if name in commands
    ]
    check_none(wrong, "Move what several commands need into a package:")


def test_the_network_runs_on_any_backend_of_keras():
    """Else, a user of JAX or PyTorch would need TensorFlow."""
    # Faster versions, where TensorFlow is the backend, and its checkpoints.
    others = (
        ROOT / "modeling/accelerated",
        ROOT / "modeling/checkpoints/tf1_checkpoint.py",
        ROOT / "modeling/checkpoints/tf1_writer.py",
        ROOT / "model_folders/formats/object_based_weights.py",
        ROOT / "model_folders/formats/tf1_weights.py",
    )
    wrong = [
        path
        for path in (*sources("model_folders"), *sources("modeling"))
        if not {path, path.parent} & {*others}
        and "tensorflow" in top_level_imports(path)
    ]
    check_none(wrong, "Use keras.ops instead of TensorFlow:")


def test_folders_of_weights_are_read_without_keras():
    """Else, a LiteRT export could not be served without Keras."""
    wrong = [
        path
        for path in sources("model_folders")
        if "keras" in top_level_imports(path)
    ]
    check_none(wrong, "What needs Keras belongs into modeling/:")


def imported_files(path):
    """Returns the files of this project whose names a file imports anywhere.

    Imports inside functions and under TYPE_CHECKING count too.
    """
    names = set()
    for node in ast.walk(parse_source(path).tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in inner if files_of(name)}
            names |= modules | ({node.module} if modules != inner else set())
    return {file for name in names for file in files_of(name)} - {path}


def test_no_module_imports_itself_in_a_circle():
    """Else, the order of imports would decide whether a command starts."""
    folders = (*PACKAGES, "tools")
    paths = [path for folder in folders for path in sources(folder)]
    imports = {path: imported_files(path) for path in paths}
    assert len([*graphlib.TopologicalSorter(imports).static_order()]) > 100


def part_of_training(path):
    """Returns the package or the module of training/ that a file is or is in.

    For example, "loop" for training/loop/trainer.py.
    """
    first = path.relative_to(ROOT / "training").parts[0]
    return first.removesuffix(".py")


def test_parts_of_training_import_only_parts_that_it_lists_before_them():
    """Else, the reading order in training/__init__.py would be wrong."""
    package = ROOT / "training/__init__.py"
    docstring = ast.get_docstring(parse_source(package).tree)
    parts = re.findall(r"^ {4}(\w+)(?:/|\.py): ", docstring, re.MULTILINE)
    files = {*sources("training")} - {package}
    assert {*parts} == {*map(part_of_training, files)}
    wrong = [
        f"{path}: {file}"
        for path in files
        for file in imported_files(path) & files
        if parts.index(part_of_training(file))
        > parts.index(part_of_training(path))
    ]
    check_none(wrong, "Move what you need to a part that is listed before:")


_MAY_IMPORT_EACH_OTHER = {
    # Checkpoints are loaded into the base class of all models, a
    # `KerasFitModel`. `from_preset`, a class method of models as in Keras,
    # loads a checkpoint.
    ("modeling", "modeling/checkpoints"),
    # The faster versions compile the formulas of plain_ops.py.
    ("modeling", "modeling/accelerated"),
}


def importers_in_modeling(folder):
    """Returns the names of the modules of modeling/ that import a folder."""
    return {
        path.name
        for path in sources("modeling")
        for file in imported_files(path)
        if path.parent == ROOT / "modeling"
        if ROOT / folder in file.parents
    }


def test_only_ops_leads_to_faster_versions():
    """Else, the plain network would run only where TensorFlow does."""
    assert importers_in_modeling("modeling/accelerated") == {"ops.py"}


def test_only_from_preset_leads_from_models_to_checkpoints():
    """Else, the network could not be read without the formats of weights."""
    importers = importers_in_modeling("modeling/checkpoints")
    assert importers == {"__init__.py", "base_model.py"}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_folders_of_a_package_import_each_other(package):
    """Else, neither folder could be understood before the other."""
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
        both - _MAY_IMPORT_EACH_OTHER,
        "Let only one of two folders import the other:",
    )


# Folders of data/ for one task each. Any task may use the other folders.
DATA_OF_TASKS = ("classification", "ner", "pretraining", "squad")


def names_of_tasks():
    """Returns the names that only the code of one task should import.

    `modeling` offers the models and losses of tasks, which stand in modules of
    their own.
    """
    stems = {path.stem for path in sources("training/tasks")}
    networks = ("modeling.task_models", "modeling.losses", "modeling.heads")
    return {
        "training.tasks",
        *(f"training.config.{stem}_config" for stem in stems),
        *(f"data.{folder}" for folder in DATA_OF_TASKS),
        *networks,
        *(
            f"modeling.{name}"
            for name in modeling.__all__
            if getattr(modeling, name).__module__ in networks
        ),
    }


def is_of_one_task(path):
    """Returns whether a file of training/ is for one task, or one script."""
    folder = part_of_training(path)
    stems = {path.stem for path in sources("training/tasks")}
    return folder in ("tasks", "extraction") or (
        folder == "config" and path.stem.removesuffix("_config") in stems
    )


def is_of_pretraining(path):
    """Returns whether a file of training/ is for pretraining, BERT's own."""
    names = (path.stem, path.parent.name)
    return any(name.startswith("pretraining") for name in names)


def used_names(path):
    """Yields the names that a file imports, and those of `modeling` in use."""
    yield from imported(path)
    for node in ast.walk(parse_source(path).tree):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if name.startswith("modeling."):
                yield name


def test_training_names_no_task_but_pretraining():
    """Else, a new task would need changes in the code that all tasks share."""
    of_tasks = names_of_tasks()
    assert {"training.config.squad_config", "modeling.SpanLoss"} < of_tasks
    wrong = [
        f"{path}: {name}"
        for path in sources("training")
        if not is_of_one_task(path)
        for name in used_names(path)
        if any(f"{name}.".startswith(f"{task}.") for task in of_tasks)
        if not (is_of_pretraining(path) and "pretrain" in name.lower())
    ]
    check_none(wrong, "Let the task or its script pass what you need:")
