"""Tests that stubs/ tells the truth about Keras and TensorFlow.

Mypy believes stubs/keras/ and stubs/tensorflow/, which are written by hand.
"""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

STUBS = Path(__file__).parents[1] / "stubs"
FILES = sorted(STUBS.rglob("*.pyi"))


def module_of(file):
    """Returns the module that a stub describes.

    The files whose names begin with "_" are parts of the package's stub.
    """
    names = file.relative_to(STUBS).with_suffix("").parts
    if names[-1].startswith("_"):
        names = names[:-1]
    # Some modules of TensorFlow are attributes, but cannot be imported.
    module = importlib.import_module(names[0])
    for name in names[1:]:
        module = getattr(module, name)
    return module


def definitions_in(body):
    """Returns the public functions and classes of a module or a class."""
    return [
        node
        for node in body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    ]


def unknown_parameters(function, stub):
    """Returns the parameters in a stub that the function does not have."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        # A function in C++ does not describe its parameters.
        return []
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return []
    named = [each.arg for each in [*stub.args.args, *stub.args.kwonlyargs]]
    # A class method is bound, so its first parameter is not listed.
    return [name for name in named if name not in {*parameters, "cls"}]


def unknown_names(owner, body):
    """Yields the names in a stub that a module or class does not have."""
    for stub in definitions_in(body):
        path = f"{owner.__name__}.{stub.name}"
        real = getattr(owner, stub.name, None)
        if real is None:
            yield path
        elif isinstance(stub, ast.ClassDef):
            yield from unknown_names(real, stub.body)
        elif callable(real):
            for name in unknown_parameters(real, stub):
                yield f"{path}: {name}"


@pytest.mark.parametrize(
    "file", FILES, ids=[str(file.relative_to(STUBS)) for file in FILES]
)
def test_each_name_and_parameter_exists(file):
    body = ast.parse(file.read_text()).body
    assert [*unknown_names(module_of(file), body)] == []
