"""int8: dense layers with kernels and inputs rounded to int8, -127 to 127.

A kernel has one scale for each column, an input one for each row. Products are
exact; the rest of the network computes as before. `keras.Model.quantize` makes
the kernels; `quantize` here also measures which layers stay accurate.

R = rows, W = width of the inputs, V = width of the outputs.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np

from modeling.checkpoints.names import original_name
from modeling.int8 import int8_matmul
from modeling.layers import Dense, all_layers

# A layer whose outputs change by more than this fraction of their norm is not
# quantized.
MAX_ERROR = 0.1
# Maximum rows of a layer's inputs, from all batches, to find their range.
_MAX_ROWS = 2048
# Rows to measure a layer's error with, taken evenly from those.
_ERROR_ROWS = 256
# A static range is the one of these shares of the largest absolute input with
# the least error: a few large inputs would leave few steps for all others.
_SHARES = (1.0, 0.8, 0.6, 0.45, 0.3, 0.2)


@dataclasses.dataclass(frozen=True)
class QuantizationReport:
    """The layers that were measured: {original name of the kernel: error}.

    Attributes:
        quantized: layers that compute in int8.
        kept: layers that lose too much accuracy and are kept in float.
    """

    quantized: Mapping[str, float]
    kept: Mapping[str, float]

    def __str__(self) -> str:
        """Describes the report in one line, for the log."""
        count = len(self.quantized) + len(self.kept)
        worst = max(self.quantized.values(), default=0.0)
        text = (
            f"{len(self.quantized)} of {count} dense layers of the encoder "
            f"compute in int8, with errors up to {worst:.1%}"
        )
        if self.kept:
            kept = ", ".join(
                f"{name} ({error:.1%})" for name, error in self.kept.items()
            )
            text += (
                "; kept in float because the error exceeds "
                f"{MAX_ERROR:.0%}: {kept}"
            )
        return text


def quantize(
    model: keras.Model,
    batches: Iterable[Any],
    static_ranges: bool = False,
    max_error: float = MAX_ERROR,
) -> QuantizationReport:
    """Quantizes a model's dense layers, except those that lose too much.

    The error of a layer is the change of its outputs relative to their
    Euclidean norm, on its inputs in `batches`.

    Args:
        model: any built model here; it cannot be trained afterwards.
        batches: representative inputs, such as a dev set's.
        static_ranges: find a range for each layer's inputs here, and clip
            later inputs to it; else each call measures the range of each row.
            Exports keep static ranges, `.keras` files do not.
        max_error: largest error of a layer that is quantized.

    Raises:
        ValueError: there are no batches, or the model is already quantized.
    """
    if is_quantized(model):
        raise ValueError("The model is quantized already.")
    inputs = _record_inputs(model, batches)
    errors, limits = {}, {}
    for layer, rows in inputs.items():
        candidates: list[float | None] = [None]
        if static_ranges:
            largest = float(np.abs(rows).max(initial=0.0))
            candidates = [share * largest for share in _SHARES]
        sample = rows[:: max(len(rows) // _ERROR_ROWS, 1)]
        by_limit = {limit: _error(layer, sample, limit) for limit in candidates}
        limits[layer] = min(candidates, key=by_limit.__getitem__)
        errors[layer] = by_limit[limits[layer]]
    model.quantize(
        "int8", filters=lambda layer: errors.get(layer, 1.0) <= max_error
    )
    for layer, limit in limits.items():
        layer.input_limit = limit
    named = {
        original_name(layer._kernel).removesuffix("/kernel"): error
        for layer, error in errors.items()
    }
    return QuantizationReport(
        {name: error for name, error in named.items() if error <= max_error},
        {name: error for name, error in named.items() if error > max_error},
    )


def is_quantized(model: keras.Model) -> bool:
    """Returns whether a dense layer of a model is quantized."""
    return any(layer.quantization_mode for layer in _dense_layers(model))


def _dense_layers(model: keras.Model) -> list[Dense]:
    return [layer for layer in all_layers(model) if isinstance(layer, Dense)]


def _record_inputs(
    model: keras.Model, batches: Iterable[Any]
) -> dict[Dense, np.ndarray]:
    """Returns {layer: some rows of its inputs, float32 [R, W]}."""
    parts: dict[Dense, list[np.ndarray]] = {
        layer: [] for layer in _dense_layers(model)
    }
    rng = np.random.default_rng(0)
    batches = list(batches)
    if not batches:
        raise ValueError("There are no inputs to measure int8 with.")
    num_rows = max(_MAX_ROWS // len(batches), 1)

    def record(layer: Dense, inputs: Any) -> None:
        rows = np.asarray(keras.ops.cast(inputs, "float32"))
        rows = rows.reshape(-1, rows.shape[-1])
        if len(rows) > num_rows:
            rows = rows[rng.choice(len(rows), num_rows, replace=False)]
        parts[layer].append(rows)

    for layer in parts:
        layer.input_recorder = record
    try:
        for batch in batches:
            model(batch, training=False)
    finally:
        for layer in parts:
            layer.input_recorder = None
    return {layer: np.concatenate(rows) for layer, rows in parts.items()}


def _error(layer: Dense, rows: np.ndarray, limit: float | None) -> float:
    """Returns the relative error of a layer's outputs in int8."""
    kernel = np.asarray(layer._kernel, "float32")
    scale = 127.0 / np.maximum(np.abs(kernel).max(axis=0), 1e-7)
    bias = np.asarray(layer.bias, "float32")
    exact = rows @ kernel + bias
    rounded = np.round(kernel * scale).astype("int8")
    outputs = int8_matmul.plain(rows, rounded, scale, bias, limit)
    norm = float(np.linalg.norm(exact))
    return float(np.linalg.norm(outputs - exact)) / norm if norm else 0.0
