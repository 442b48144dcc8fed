"""Calls a trained model for prediction, as fast as possible."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from modeling.accelerated import int8


class Predictor:
    """Calls a model for evaluation and prediction, inside a graph.

    If the CPU is the only device, the graph is pinned to it, so that the model
    uses the forms that are fused there. Kernels can be cast once instead of for
    every batch.

    Args:
        model: a keras.Model over a dict of features.
        jit_compile: whether XLA compiles the graph; it has its own fusions.
    """

    def __init__(self, model: keras.Model, jit_compile: bool = False) -> None:
        self.model = model
        devices = {
            device.device_type for device in tf.config.list_logical_devices()
        }
        self.device = None if jit_compile or devices != {"CPU"} else "CPU:0"

    def __call__(self, features: Any, kernels: Sequence[tf.Tensor] = ()) -> Any:
        """Returns the model's outputs.

        Args:
            features: dict of tensors.
            kernels: result of `cast_kernels`; empty = the model's own.
        """
        with (
            tf.device(self.device),
            int8.constant_weights(),
            _kernels_as(self.model, kernels),
        ):
            return self.model(features, training=False)

    def cast_kernels(self) -> list[tf.Tensor]:
        """Returns the kernels in the compute dtype; [] = no cast needed."""
        return [] if self.device is None else _cast_kernels(self.model)


class CastKernels:
    """Copies of a model's kernels in the dtype that they are computed in.

    They are variables, so that an export stores 16 bits for a weight, and no
    call casts it. Results are the same.

    Args:
        model: a keras.Model.
    """

    def __init__(self, model: keras.Model) -> None:
        self._model = model
        self._variables = [
            tf.Variable(cast, name=kernel.path)
            for cast, kernel in zip(
                _cast_kernels(model), _kernels(model), strict=False
            )
        ]

    def used_by(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that calls the model with these kernels."""

        def call(*inputs: Any) -> Any:
            with _kernels_as(self._model, self._variables):
                return function(*inputs)

        return call


@contextlib.contextmanager
def _kernels_as(model: keras.Model, values: Sequence[Any]) -> Iterator[None]:
    """Has a model compute with other values of its kernels; [] = its own."""
    with keras.StatelessScope() as scope:
        if values:
            for update in zip(_kernels(model), values, strict=True):
                scope.add_update(update)
        yield


def _cast_kernels(model: keras.Model) -> list[tf.Tensor]:
    """Returns the kernels in the compute dtype; [] = no cast needed."""
    if model.compute_dtype == model.variable_dtype:
        return []
    return [
        tf.cast(kernel.value, model.compute_dtype) for kernel in _kernels(model)
    ]


def _kernels(model: keras.Model) -> list[keras.Variable]:
    return [
        v
        for v in model.weights
        if v.path.endswith("/kernel") and v.dtype != "int8"
    ]


def pack_weights(compute_dtype: str) -> None:
    """Makes oneDNN reorder weights once instead of for each product.

    For processes that do not train, before their first product: TensorFlow
    then assumes that weights never change. In float32 the order depends on the
    batch's shape and the gain is small, so nothing is changed there.

    Args:
        compute_dtype: dtype of the products, such as "bfloat16".
    """
    if compute_dtype == "bfloat16":
        os.environ.setdefault("TF_ONEDNN_ASSUME_FROZEN_WEIGHTS", "1")
