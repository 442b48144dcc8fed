"""Tests that stubs/ tells the truth about Keras and TensorFlow.

Mypy believes stubs/keras/ and stubs/tensorflow/, which are written by hand.
"""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

EMPTY = inspect.Parameter.empty
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD
VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
STARRED = (VAR_POSITIONAL, VAR_KEYWORD)
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


def is_compared(name):
    """Returns whether Keras or TensorFlow must have a name of a stub.

    A private class is the type of a result, which has no public name. How
    operators name their parameters does not matter.
    """
    return not name.startswith("_") or name == "__init__"


def parameters_in(stub):
    """Returns {name: inspect.Parameter} of a function in a stub."""
    code = f"def function({ast.unparse(unannotated(stub.args))}): pass"
    names = {}
    exec(code, names)
    return inspect.signature(names["function"]).parameters


def unannotated(arguments):
    """Returns the parameters of a function without their types."""
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return arguments


def wrong_parameters(function, stub):
    """Yields the parameters that a function does not take as its stub says.

    A stub may leave out optional parameters, and demand that one is passed, or
    is passed by its name.
    """
    try:
        real = inspect.signature(function).parameters
    except ValueError:
        # A function in C++ does not describe its parameters.
        return
    stated = parameters_in(stub)
    # A class method is bound, so its first parameter is not listed.
    stated = {name: stated[name] for name in stated if name != "cls"}
    stated_kinds = {parameter.kind for parameter in stated.values()}
    real_kinds = {parameter.kind for parameter in real.values()}
    for index, (name, parameter) in enumerate(stated.items()):
        if parameter.kind in STARRED:
            continue
        if name not in real:
            if VAR_KEYWORD not in real_kinds:
                yield f"{name} does not exist"
        elif parameter.kind is not KEYWORD_ONLY and [*real][index] != name:
            yield f"{name} has another position"
        elif parameter.default is not EMPTY and real[name].default is EMPTY:
            yield f"{name} has no default"
    for name, parameter in real.items():
        is_passed = name in stated or VAR_POSITIONAL in stated_kinds
        is_needed = parameter.default is EMPTY and parameter.kind not in STARRED
        if is_needed and not is_passed:
            yield f"{name} must be passed"


def wrong_names(owner, body):
    """Yields what a stub states, but a module or class does not have."""
    for stub in body:
        if not isinstance(stub, ast.FunctionDef | ast.ClassDef):
            continue
        if not is_compared(stub.name):
            continue
        path = f"{owner.__name__}.{stub.name}"
        real = getattr(owner, stub.name, None)
        if real is None:
            yield path
        elif isinstance(stub, ast.ClassDef):
            yield from wrong_names(real, stub.body)
        elif callable(real):
            for reason in wrong_parameters(real, stub):
                yield f"{path}: {reason}"


@pytest.mark.parametrize(
    "file", FILES, ids=[str(file.relative_to(STUBS)) for file in FILES]
)
def test_each_name_and_parameter_is_as_a_stub_says(file):
    body = ast.parse(file.read_text()).body
    assert [*wrong_names(module_of(file), body)] == []
