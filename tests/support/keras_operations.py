"""Operations of Keras on every kind of model, and the page that lists them.

For example:

    @for_each_kind(KINDS)
    def test_predict_returns_an_array(kind):
        model, inputs, _ = create_compiled(kind)
        ...
"""

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

import keras
import numpy as np
import pytest
from numpy.typing import NDArray

import modeling
from data.arrays import FeatureArrays
from modeling.tensors import Tensor
from tests.support.model_cases import (
    BATCH_SIZE,
    CONFIG,
    MODELS,
    create_inputs,
    flat,
)
from tests.support.paths import ROOT

TestT = TypeVar("TestT", bound=Callable[..., None])
# What a model is compiled with: an array, or {name of an output: array}.
Labels: TypeAlias = NDArray[Any] | dict[str, NDArray[Any]]

# The label of each row, so far from the first number of any model's row that
# each step of a training lowers the loss, whatever dropout drops.
LABEL = 2.0

KINDS: dict[str, Callable[..., keras.Model]] = {
    **MODELS,
    "embedder": lambda **kwargs: modeling.BertEmbedder(CONFIG, **kwargs),
}
# {backend: its column in docs/api.md}.
BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "torch"}


def mark_slow_except(fast: str, values: Iterable[str]) -> list[Any]:
    """Returns the values of a parameter, which are slow, except for one."""
    return [
        value if value == fast else pytest.param(value, marks=pytest.mark.slow)
        for value in values
    ]


def for_each_kind(kinds: Iterable[str]) -> Callable[[TestT], TestT]:
    """Marks a test of an operation, which runs for each of these kinds."""
    params = mark_slow_except("classifier", kinds)
    parametrize = pytest.mark.parametrize("kind", params)

    def mark(test: TestT) -> TestT:
        marked: TestT = pytest.mark.backends(parametrize(test))
        return marked

    return mark


def keras_loss(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """A loss as users write it: the square of each row's error.

    The error is the difference of the label and the row's first number.
    """
    # Not of all numbers: the sum of an embedding's squares is 1.
    first_numbers = keras.ops.reshape(y_pred, (BATCH_SIZE, -1))[:, 0]
    return keras.ops.square(keras.ops.reshape(y_true, (-1,)) - first_numbers)


def loss_by_numpy(outputs: object) -> float:
    """Returns the mean of `keras_loss` of a model's last output."""
    if isinstance(outputs, dict):
        *_, outputs = outputs.values()
    (last_output,) = flat(outputs)
    first_numbers = last_output.reshape(BATCH_SIZE, -1)[:, 0]
    return float(np.mean((LABEL - first_numbers) ** 2))


def create_compiled(kind: str) -> tuple[keras.Model, FeatureArrays, Labels]:
    """Returns a model with `keras_loss`, its inputs and labels."""
    model = KINDS[kind](seed=1)
    inputs = create_inputs(kind)
    outputs = model(inputs)
    labels = np.full((BATCH_SIZE, 1), LABEL, "float32")
    if isinstance(outputs, dict):
        # Only the last output counts. A list cannot have a loss.
        last = [*outputs][-1]
        model.compile("adam", {last: keras_loss})
        return model, inputs, {last: labels}
    model.compile("adam", keras_loss)
    return model, inputs, labels


@functools.cache
def read_operations_of_page() -> dict[str, dict[str, str]]:
    """Returns {operation: {column: cell}} of the table in docs/api.md."""
    text = (ROOT / "docs/api.md").read_text("utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in re.findall(r"(?m)^\|.*\|$", text)
    ]
    header, _, *rows = rows
    return {
        operation: dict(zip(header[1:], cells, strict=True))
        for operation, *cells in rows
    }
