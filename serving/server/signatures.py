"""Signatures of a version: what their inputs and outputs are like."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Arrays = Mapping[str, np.ndarray]


class Spec(NamedTuple):
    """An input or an output of a signature.

    Attributes:
        dtype: TensorFlow's name of the type, such as "string" or "int32".
        shape: its sizes, each None if any will do, or None for any shape.
        name: that of the tensor, for the metadata.
    """

    dtype: str
    shape: tuple[int | None, ...] | None
    name: str = ""

    def to_numpy(self) -> np.dtype:
        """Returns the type of an array with such values; bytes are objects."""
        names = {"string": "object", "bfloat16": "float32"}
        return np.dtype(names.get(self.dtype, self.dtype))

    @staticmethod
    def type_of(array: np.ndarray) -> str:
        """Returns TensorFlow's name of an array's type."""
        return "string" if array.dtype == object else array.dtype.name


# Specs or outputs of a signature, by name.
Specs = Mapping[str, Spec]


class Signature(NamedTuple):
    """The inputs and the outputs of a signature, by name."""

    inputs: Specs
    outputs: Specs


class Key(NamedTuple):
    """Calls of equal keys can be computed together.

    Attributes:
        name: a signature; or a task, if there are no shapes.
        shapes: the shape of a row of each input; () for texts.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...] | None = None


class Description(NamedTuple):
    """Properties of a version that the server needs.

    Attributes:
        signatures: {name: Signature}.
        batched: names of the signatures and tasks of which an answer does not
            depend on the others in a batch.
        tasks: names of the tasks, the main one first.
        engine: name of the runtime.
        precision: precision of its products.
    """

    signatures: Mapping[str, Signature]
    batched: frozenset[str]
    tasks: Sequence[str]
    engine: str
    precision: str


def read_signature(function: Any, definition: Any) -> Signature:
    """Returns the Signature of a function of a SavedModel."""

    def read(specs: Mapping[str, Any], infos: Any) -> dict[str, Spec]:
        return {
            key: Spec(
                spec.dtype.name,
                None if spec.shape.rank is None else tuple(spec.shape),
                infos[key].name,
            )
            for key, spec in sorted(specs.items())
        }

    inputs = function.structured_input_signature[1]
    return Signature(
        read(inputs, definition.inputs),
        read(function.structured_outputs, definition.outputs),
    )


def describe(name: str, first: Arrays, second: Arrays) -> dict[str, Spec]:
    """Returns the specs of arrays; sizes that differ in two calls are None."""
    return {
        key: Spec(
            Spec.type_of(array),
            (
                None,
                *(
                    size if size == other else None
                    for size, other in zip(
                        array.shape[1:], second[key].shape[1:], strict=True
                    )
                ),
            ),
            f"{name}_{key}:0",
        )
        for key, array in sorted(first.items())
    }


def stack(rows: Sequence[Arrays]) -> dict[str, np.ndarray]:
    """Joins the outputs for some texts, padded to the longest with "" or 0."""
    outputs = {}
    for name, first in rows[0].items():
        values = [row[name] for row in rows]
        shape = np.max([value.shape for value in values], axis=0).astype(int)
        joined: Any = np.zeros([len(rows), *shape], first.dtype)
        if first.dtype == object:
            joined[...] = b""
        for place, value in enumerate(values):
            joined[(place, *map(slice, value.shape), ...)] = value
        outputs[name] = joined
    return outputs
