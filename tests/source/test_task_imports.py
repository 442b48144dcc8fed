"""The code of training/ that every task shares names no task but pretraining.

So a new task changes nothing there but its flags in training/config/.
"""

import ast

import modeling
from tests.support.paths import ROOT
from tests.support.source_files import (
    check_none,
    imported,
    parse_source,
    sources,
)

# Each name in these modules is the model, the loss or the head of a task.
MODULES_OF_TASKS = ("modeling.task_models", "modeling.losses", "modeling.heads")


def task_configs():
    """Returns the files with the flags of one task each."""
    names = {f"{path.stem}_config" for path in sources("training/tasks")}
    return [path for path in sources("training/config") if path.stem in names]


def files_outside_of_tasks():
    """Returns the files of training that serve any task, or pretraining."""
    of_tasks = {
        *sources("training/tasks"),
        *task_configs(),
        # The work of a script, which trains nothing.
        *sources("training/extraction"),
    }
    return [path for path in sources("training") if path not in of_tasks]


def is_of_pretraining(path):
    """Returns whether a file of training serves only pretraining."""
    names = (path.stem, path.parent.name)
    return any(name.startswith("pretraining") for name in names)


def test_training_imports_no_fine_tuning_task():
    configs = {f"training.config.{path.stem}" for path in task_configs()}
    assert "training.config.squad_config" in configs
    wrong = [
        f"{path}: {name}"
        for path in files_outside_of_tasks()
        for name in imported(path)
        if name.startswith("training.tasks") or name in configs
    ]
    check_none(wrong, "Let the script pass the task instead:")


def used_names(path, package):
    """Returns {"PACKAGE.NAME"} of the names of a package that a file uses."""
    attributes = {
        ast.unparse(node)
        for node in ast.walk(parse_source(path).tree)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == package
    }
    return attributes | {*imported(path)}


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
        for path in files_outside_of_tasks()
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
        for path in files_outside_of_tasks()
        for name in imported(path)
        for folder in of_tasks
        if f"{name}.".startswith(f"data.{folder}.")
        if not (is_of_pretraining(path) and folder == "pretraining")
    ]
    check_none(wrong, "Let the task read and score its examples instead:")
