"""What may stand in one place only, read from the source."""

import ast

import pytest

from model_folders import kinds
from model_folders.formats.huggingface.config import CLASS_OF_ARCHITECTURE
from tests.support.paths import ROOT
from tests.support.source_files import (
    PACKAGES,
    check_none,
    imported,
    parsed_sources,
)

FOLDERS = (*PACKAGES, "tools")
JSON_READERS = ("json.load", "json.loads")
# Where the classes of this project, of transformers and of KerasHub are named.
_NAMES_OF_CLASSES = {
    ROOT / "model_folders/kinds.py",
    ROOT / "model_folders/formats/huggingface/config.py",
    ROOT / "model_folders/formats/kerashub/config.py",
    # The modules of the classes, which are imported late.
    ROOT / "model_folders/saved_classes.py",
    ROOT / "modeling/__init__.py",
}
KIND_NAMES = {
    *kinds.KIND_OF_CLASS,
    *CLASS_OF_ARCHITECTURE,
}


def reads_json(tree):
    """Returns whether a module reads JSON that it did not write itself."""
    nodes = [*ast.walk(tree)]
    # json.loads(json.dumps(x)) turns the tuples in x into lists.
    own = {
        node.func
        for node in nodes
        if isinstance(node, ast.Call)
        and node.args
        and isinstance(node.args[0], ast.Call)
        and ast.unparse(node.args[0].func) == "json.dumps"
    }
    return any(_names_reader(node) for node in nodes if node not in own)


def _names_reader(node):
    """Returns whether a node names a function or a class that reads JSON."""
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in JSON_READERS or node.attr == "JSONDecoder"
    if isinstance(node, ast.ImportFrom):
        return node.module in ("json", "json.decoder")
    # Under another name, _names_reader would not see it.
    return isinstance(node, ast.Import) and any(
        alias.name == "json" and alias.asname for alias in node.names
    )


def test_only_the_command_line_uses_absl_flags():
    """Everything else has fields of a dataclass. Help and `run` read them."""
    users = {
        str(source.path.parent.relative_to(ROOT))
        for source in parsed_sources(*FOLDERS)
        if "absl.flags" in imported(source.path)
    }
    assert users == {"command_line"}


def test_json_is_read_in_one_place():
    """Whatever is in a file is then a value or an error of one line."""
    readers = {
        str(source.path.relative_to(ROOT))
        for source in parsed_sources(*FOLDERS)
        if reads_json(source.tree)
    }
    assert readers == {"files/json_files.py"}


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("json.load(file)", True),
        ("map(json.loads, lines)", True),
        ("json.decoder.JSONDecoder()", True),
        ("from json import loads", True),
        ("import json as j", True),
        ("json.loads(json.dumps(values))", False),
        ("json.dumps(values)", False),
        ("# json.loads(text)", False),
    ],
)
def test_code_that_reads_json_is_recognized(code, reads):
    assert reads_json(ast.parse(code)) == reads


def test_only_tables_name_the_classes_of_models():
    """Other modules look up what depends on the kind of a model."""
    wrong = [
        source.place(node)
        for source in parsed_sources(*FOLDERS)
        if source.path not in _NAMES_OF_CLASSES
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and node.value in KIND_NAMES
    ]
    check_none(wrong, "Look the class up in model_folders/kinds.py:")
