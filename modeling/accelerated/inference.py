"""Calls a trained model for prediction, as fast as possible."""

import os
from collections.abc import Sequence
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
            keras.StatelessScope() as scope,
        ):
            if kernels:
                for update in zip(self._kernels(), kernels, strict=True):
                    scope.add_update(update)
            return self.model(features, training=False)

    def cast_kernels(self) -> list[tf.Tensor]:
        """Returns the kernels in the compute dtype; [] = no cast needed."""
        dtype = self.model.compute_dtype
        if self.device is None or dtype == self.model.variable_dtype:
            return []
        return [tf.cast(kernel.value, dtype) for kernel in self._kernels()]

    def _kernels(self) -> list[keras.Variable]:
        return [
            v
            for v in self.model.weights
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
