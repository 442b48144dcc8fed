"""Describes the inputs and outputs of a version of a model."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Arrays = Mapping[str, np.ndarray]


class Spec(NamedTuple):
    """Type and shape of an input or an output of a signature.

    Attributes:
        dtype: TensorFlow's name of the type, such as "string" or "int32".
        shape: sizes, with -1 for a variable size. The shape itself is None if
            any shape is allowed.
        name: name of the tensor, for the metadata of the model.
    """

    dtype: str
    shape: tuple[int, ...] | None
    name: str = ""

    def to_numpy(self) -> np.dtype:
        """Returns the NumPy type of the values: `object` for strings."""
        names = {"string": "object", "bfloat16": "float32"}
        return np.dtype(names.get(self.dtype, self.dtype))

    @staticmethod
    def type_of(array: np.ndarray) -> str:
        """Returns TensorFlow's name of an array's type, such as "string"."""
        return "string" if array.dtype == object else array.dtype.name


# {name: Spec} for the inputs or the outputs of a signature.
Specs = Mapping[str, Spec]


class Signature(NamedTuple):
    """Specs of a signature's inputs and outputs, by name."""

    inputs: Specs
    outputs: Specs


class Key(NamedTuple):
    """The signature or task of a call. Calls with equal keys can be batched.

    Attributes:
        name: name of the signature, or of the task if `shapes` is None.
        shapes: shape of one row of each input. The shape of a text is (). None
            for a task.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...] | None = None


class Description(NamedTuple):
    """Describes a loaded model version.

    The process that loads the version sends the description to the server.

    Attributes:
        signatures: {name: Signature}.
        batched: names of the signatures and tasks whose result for a row does
            not depend on the other rows in a batch.
        tasks: names of the tasks, the main task first.
        engine: name of the runtime that runs the model, such as "onnx".
        precision: numeric type of the matrix products, such as "float32".
    """

    signatures: Mapping[str, Signature]
    batched: frozenset[str]
    tasks: Sequence[str]
    engine: str
    precision: str


def read_signature(function: Any, definition: Any) -> Signature:
    """Returns the Signature of a function in a loaded SavedModel.

    `definition` is the function's SignatureDef in saved_model.pb.
    """

    def read(specs: Mapping[str, Any], infos: Any) -> dict[str, Spec]:
        found = {}
        for key, spec in sorted(specs.items()):
            shape = None
            if spec.shape.rank is not None:
                shape = tuple(-1 if n is None else n for n in spec.shape)
            found[key] = Spec(spec.dtype.name, shape, infos[key].name)
        return found

    inputs = function.structured_input_signature[1]
    return Signature(
        read(inputs, definition.inputs),
        read(function.structured_outputs, definition.outputs),
    )


def describe(name: str, first: Arrays, second: Arrays) -> dict[str, Spec]:
    """Infers the specs of a signature's inputs or outputs from two calls.

    Args:
        name: name of the signature.
        first: {name: array} of the inputs or the outputs of one call.
        second: the same for a call with more rows and other sizes.

    Returns:
        {name: Spec}. A size that differs between the calls is -1.
    """
    found = {}
    for key, array in sorted(first.items()):
        sizes = zip(array.shape, second[key].shape, strict=True)
        shape = tuple(one if one == other else -1 for one, other in sizes)
        found[key] = Spec(Spec.type_of(array), shape, f"{name}_{key}:0")
    return found


def stack(rows: Sequence[Arrays]) -> dict[str, np.ndarray]:
    """Stacks the outputs of several texts, and pads them with b"" or 0."""
    outputs = {}
    for name, first in rows[0].items():
        values = [row[name] for row in rows]
        shape = np.max([value.shape for value in values], axis=0).astype(int)
        padding = b"" if first.dtype == object else 0
        joined: Any = np.full([len(rows), *shape], padding, first.dtype)
        for place, value in enumerate(values):
            joined[(place, *map(slice, value.shape), ...)] = value
        outputs[name] = joined
    return outputs
