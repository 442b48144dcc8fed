"""Tests that stubs/ tells the truth about Keras and TensorFlow.

Mypy believes stubs/keras/ and stubs/tensorflow/, which are written by hand.
Names and parameters are compared of all functions, and what a function returns
of some, whose result is not simply a tensor.
"""

import ast
import importlib
import inspect

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.support.paths import ROOT

EMPTY = inspect.Parameter.empty
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD
VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
STARRED = (VAR_POSITIONAL, VAR_KEYWORD)
STUBS = ROOT / "stubs"
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


RAGGED = tf.ragged.constant([[1, 2], [3]])
# {stub: {name: call of the function or method}}.
CALLS = {
    "tensorflow/_functions.pyi": {
        "dynamic_partition": lambda: tf.dynamic_partition([1, 2], [0, 1], 2),
        "gather": lambda: tf.gather(RAGGED, [0]),
        "make_ndarray": lambda: tf.make_ndarray(tf.make_tensor_proto([1])),
        "norm": lambda: tf.norm([3.0, 4.0]),
        "ones_like": lambda: tf.ones_like(RAGGED),
        "rank": lambda: tf.rank([1]),
        "shape": lambda: tf.shape([1]),
        "stack": lambda: tf.stack([RAGGED, RAGGED]),
        "unique": lambda: tf.unique([1, 1]),
        "unstack": lambda: tf.unstack([1, 2]),
        "where": lambda: tf.where([True]),
    },
    "tensorflow/_tensors.pyi": {
        "RaggedTensor.bounding_shape": RAGGED.bounding_shape,
        "RaggedTensor.nrows": RAGGED.nrows,
        "RaggedTensor.numpy": RAGGED.numpy,
        "RaggedTensor.row_lengths": RAGGED.row_lengths,
        "RaggedTensor.to_list": RAGGED.to_list,
        "RaggedTensor.to_tensor": RAGGED.to_tensor,
        "RaggedTensor.value_rowids": RAGGED.value_rowids,
        "Tensor.get_shape": tf.constant([1]).get_shape,
        "TensorShape.as_list": tf.TensorShape([None, 2]).as_list,
        "TensorShape.is_fully_defined": tf.TensorShape([2]).is_fully_defined,
        "TensorShape.num_elements": tf.TensorShape([2]).num_elements,
        "Variable.read_value": tf.Variable(1.0).read_value,
        "Variable.value": tf.Variable(1.0).value,
        "as_dtype": lambda: tf.as_dtype("int32"),
    },
    "tensorflow/math.pyi": {
        "top_k": lambda: tf.math.top_k([1, 2]),
    },
    "tensorflow/ragged.pyi": {
        "boolean_mask": lambda: tf.ragged.boolean_mask([[1]], [[True]]),
        "range": lambda: tf.ragged.range([2]),
    },
    "tensorflow/strings.pyi": {
        "join": lambda: tf.strings.join(["a", "b"]),
        "split": lambda: tf.strings.split(["a b"]),
        "substr": lambda: tf.strings.substr(["ab"], 0, 1),
    },
    "tensorflow/io/gfile.pyi": {
        "exists": lambda: tf.io.gfile.exists("/"),
        "glob": lambda: tf.io.gfile.glob("/*"),
        "isdir": lambda: tf.io.gfile.isdir("/"),
        "listdir": lambda: tf.io.gfile.listdir("/"),
    },
    "tensorflow/nest.pyi": {
        "flatten": lambda: tf.nest.flatten({"a": (1, 2)}),
    },
    "keras/backend.pyi": {
        "backend": keras.backend.backend,
        "is_keras_tensor": lambda: keras.backend.is_keras_tensor(1),
        "result_type": lambda: keras.backend.result_type("int32", "float32"),
        "standardize_dtype": lambda: keras.backend.standardize_dtype(tf.int32),
    },
    "keras/ops.pyi": {
        "argmax": lambda: keras.ops.argmax([1]),
        "convert_to_numpy": lambda: keras.ops.convert_to_numpy([1]),
        "isfinite": lambda: keras.ops.isfinite([1.0]),
        "shape": lambda: keras.ops.shape([[1]]),
    },
    "keras/random.pyi": {
        "SeedGenerator.next": lambda: keras.random.SeedGenerator(1).next(),
        "uniform": lambda: keras.random.uniform((2,)),
    },
    "keras/tree.pyi": {
        "flatten": lambda: keras.tree.flatten({"a": (1, 2)}),
    },
    "keras/utils.pyi": {
        "unpack_x_y_sample_weight": (
            lambda: keras.utils.unpack_x_y_sample_weight(({"a": 1}, 2))
        ),
    },
}
CASES = [
    pytest.param(file, name, call, id=f"{file}-{name}")
    for file, calls in CALLS.items()
    for name, call in calls.items()
]
CLASS_OF_NAME = {
    "Any": object,
    "DType": tf.DType,
    "RaggedTensor": tf.RaggedTensor,
    "Tensor": tf.Tensor,
    "TensorShape": tf.TensorShape,
    "bool": bool,
    "int": int,
    "list": list,
    "np.ndarray": np.ndarray,
    "str": str,
    "tuple": tuple,
}


def definitions(body, name):
    """Returns the classes or functions of a stub with a name, "A.b" of A."""
    owner, _, member = name.partition(".")
    found = [node for node in body if getattr(node, "name", None) == owner]
    return definitions(found[0].body, member) if member else found


def is_as_stated(value, stated, body):
    """Returns whether a value has the type that a stub states.

    Args:
        value: what a function returned.
        stated: the stub's annotation.
        body: contents of the stub, which may define the type.
    """
    if isinstance(stated, ast.BinOp):
        sides = (stated.left, stated.right)
        return any(is_as_stated(value, side, body) for side in sides)
    if isinstance(stated, ast.Constant) and stated.value is None:
        return value is None
    if isinstance(stated, ast.Subscript):
        item, *_ = getattr(stated.slice, "elts", [stated.slice])
        return is_as_stated(value, stated.value, body) and all(
            is_as_stated(element, item, body) for element in value
        )
    name = ast.unparse(stated)
    for alias in body:
        if isinstance(alias, ast.AnnAssign) and alias.target.id == name:
            return is_as_stated(value, alias.value, body)
    if name not in CLASS_OF_NAME:
        # A class of the stub, which names the result's attributes.
        (described,) = definitions(body, name)
        hints = {item.target.id: item.annotation for item in described.body}
        return all(
            is_as_stated(getattr(value, attribute), hint, body)
            for attribute, hint in hints.items()
        )
    return isinstance(value, CLASS_OF_NAME[name])


@pytest.mark.parametrize(("file", "name", "call"), CASES)
def test_a_function_returns_what_its_stub_says(file, name, call):
    body = ast.parse((STUBS / file).read_text()).body
    returns = [stub.returns for stub in definitions(body, name)]
    value = call()
    assert any(is_as_stated(value, stated, body) for stated in returns), (
        f"{[*map(ast.unparse, returns)]}, but it returned {value!r}"
    )
