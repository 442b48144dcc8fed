"""Compares faster versions of operations with the plain ones.

The value and the gradients must be nearly as exact as those of the plain
version. For example:

    options = {"ids": tf.constant([2, 0])}
    tensors = [draw_numbers(9, 130)]
    assert_same_as_plain(
        fusions.look_up, ops.look_up, tensors, "float32", options
    )

The other functions choose the tensors and the options of an operation that has
both a fused and a compiled version:

    assert_same_attention_probs(
        compiled.attention_probs, "float32", 130, seed=SEED
    )
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeAlias
from unittest import mock

import keras
import numpy as np
import tensorflow as tf

from data.arrays import FloatArray
from modeling import ops
from modeling.accelerated import compiled

# A version of an operation. Any, because each has parameters of its own.
Version: TypeAlias = Callable[..., Any]
# {name: value} of the arguments of an operation that are no float tensors.
Options: TypeAlias = Mapping[str, Any]


def list_versions(module: ModuleType) -> set[str]:
    """Returns the names of a module's functions that ops.py calls."""
    name = module.__name__.rpartition(".")[2]
    return {*re.findall(rf"\b{name}\.(\w+)\(", inspect.getsource(ops))}


def draw_numbers(*shape: int, seed: int = 0) -> FloatArray:
    """Returns normally distributed numbers, the same for the same seed."""
    return np.random.default_rng(seed).normal(size=shape)


def assert_same_activation(
    faster: Version, name: str, dtype: str, width: int, *, training: bool
) -> None:
    """Compares a version of `ops.activation` with the plain version."""
    assert_same_as_plain(
        faster,
        ops.activation,
        [draw_numbers(2, 4, width) * 3],
        dtype,
        {"hidden_act": name, "training": training},
    )


def assert_same_attention_probs(
    faster: Version, dtype: str, width: int, *, seed: tf.Tensor | None
) -> None:
    """Compares a version of `ops.attention_probs` with the plain version."""

    def create_options(dtype: str) -> Options:
        return {
            "adder": _create_adder(width, dtype),
            "scale": 0.125,
            "dropout_prob": 0.4,
            "seed": seed,
        }

    assert_same_as_plain(
        faster,
        ops.attention_probs,
        [draw_numbers(2, 3, 5, width) * 4],
        dtype,
        create_options(dtype),
        create_options("float64"),
    )


def assert_same_dropout_add_norm(
    faster: Version,
    leading_axes: Sequence[int],
    dtype: str,
    width: int,
    *,
    seed: tf.Tensor | None,
) -> None:
    """Compares a version of `ops.dropout_add_norm` with the plain version."""

    def create_options(dtype: str) -> Options:
        return {
            "layer": create_layer_norm(width, dtype),
            "dropout_prob": 0.4,
            "seed": seed,
        }

    assert_same_as_plain(
        faster,
        ops.dropout_add_norm,
        [
            draw_numbers(*leading_axes, width) * 3,
            draw_numbers(*leading_axes, width, seed=1),
        ],
        dtype,
        create_options(dtype),
        create_options("float64"),
    )


def create_layer_norm(
    width: int, dtype: str
) -> keras.layers.LayerNormalization:
    """Returns a layer with random weights."""
    layer = keras.layers.LayerNormalization(epsilon=1e-3, dtype=dtype)
    layer.build((None, width))
    layer.gamma.assign(draw_numbers(width, seed=8))
    layer.beta.assign(draw_numbers(width, seed=9))
    return layer


def _create_adder(width: int, dtype: str) -> tf.Tensor:
    """Returns what masks about half of the scores, [2, 1, 1, width]."""
    adder = np.random.default_rng(0).integers(-1, 1, (2, 1, 1, width)) * 1e4
    # bfloat16 does not tell scores apart where all are masked.
    adder[..., 0] = 0
    return tf.constant(adder, "float64" if dtype == "float64" else "float32")


def assert_same_as_plain(
    faster: Version,
    operation: Version,
    tensors: Sequence[FloatArray],
    dtype: str,
    options: Options | None = None,
    exact_options: Options | None = None,
) -> None:
    """Compares the value and the gradients of both versions of an operation.

    The error (RMS) may be half as much again as that of the plain version, and
    a rounding of the values. Where nearly equal numbers are subtracted, the
    values are small, but the rounding is not.

    Args:
        faster: the faster version.
        operation: the function of ops.py.
        tensors: its float tensors, the first of its arguments.
        dtype: type to compute in.
        options: its other arguments, by their names. The faster version lacks
            those that it does not need, such as `training`.
        exact_options: these in float64, if they depend on the type.
    """
    options = options or {}
    # All versions start from the same rounded values.
    rounded = [tf.cast(tensor, dtype) for tensor in tensors]
    parameters = inspect.signature(faster).parameters
    faster_options = {
        name: value for name, value in options.items() if name in parameters
    }
    results = _compute_with_gradients(faster, rounded, faster_options, dtype)
    # Both versions drop the same elements.
    with (
        ops.plain_versions(),
        mock.patch.object(ops, "keep_mask", compiled.keep_mask),
    ):
        plain_results = _compute_with_gradients(
            operation, rounded, options, dtype
        )
        exact_results = _compute_with_gradients(
            operation, rounded, exact_options or options, "float64"
        )
    rounding = {"float64": 1e-14, "float32": 1e-6, "bfloat16": 1e-2}[dtype]
    for result, plain, exact in zip(
        results, plain_results, exact_results, strict=True
    ):
        if exact is None:
            assert result is None
            continue
        assert result.shape == exact.shape
        allowed = 1.5 * _rms(plain - exact) + rounding * max(_rms(exact), 0.1)
        assert _rms(result - exact) <= allowed


def _compute_with_gradients(
    function: Version,
    tensors: Sequence[tf.Tensor],
    options: Options,
    dtype: str,
) -> list[Any]:
    """Returns a function's value and gradients in float64, from one graph.

    The gradients are those to the tensors, and to the weights of the layer if
    there is one among the options. None is the gradient to a tensor whose
    values the function does not read.
    """

    def compute(tensors: Sequence[tf.Tensor]) -> list[Any]:
        tensors = [tf.cast(tensor, dtype) for tensor in tensors]
        with tf.device("CPU:0"), tf.GradientTape() as tape:
            tape.watch(tensors)
            outputs = function(*tensors, **options)
            upstream = tf.cast(
                draw_numbers(*outputs.shape, seed=7), outputs.dtype
            )
            loss = tf.reduce_sum(tf.cast(outputs * upstream, "float64"))
        layer = options.get("layer")
        weights = [layer.gamma.value, layer.beta.value] if layer else []
        return [
            # The gradient of a look-up is slices.
            None
            if tensor is None
            else tf.cast(tf.convert_to_tensor(tensor), "float64")
            for tensor in (outputs, *tape.gradient(loss, [*tensors, *weights]))
        ]

    results: list[Any] = tf.function(compute, autograph=False)(tensors)
    return results


def _rms(values: tf.Tensor) -> float:
    """Returns the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
