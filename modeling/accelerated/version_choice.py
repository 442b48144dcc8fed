"""Chooses the version of a function in modeling/ops.py for each call.

For each call, `choose_version` selects the plain version or a faster one. Each
dict in this file maps functions of modeling/ops.py to faster versions.
`choose_version` uses the first rule in this list that matches the call and
whose dict contains the function:

1. If Keras runs on a backend other than TensorFlow, modeling/ops.py uses the
   plain version and does not call this module.
2. In all graphs and in eager calls: `ALWAYS`.
3. In graphs, for at least `MIN_COMPILED_CLASSES` classes, as in the masked LM:
   `MANY_CLASSES`.
4. In training, if the last axis of the input has at least `MIN_COMPILED_WIDTH`
   elements, or an unknown number: `COMPILED`. For a shorter axis, compiling
   costs more time than it saves, so the plain version is used.
5. In inference, in a graph pinned to the CPU (`tf.device`), in float32 or
   bfloat16: `FUSED_ON_CPU`. TensorFlow would fuse these functions on a GPU too,
   but has no GPU kernels for the fused operations.
6. In inference: `INFERENCE`.
7. Otherwise: the plain version.
"""

from collections.abc import Callable
from typing import Any, Concatenate, TypeAlias

import keras
import tensorflow as tf

from modeling import ops
from modeling.accelerated import compiled, fusions, tracing
from modeling.dispatch import DispatchedFunction, FirstT, P, R

# The hidden size of the smallest released BERT. For inputs with a shorter last
# axis, compiling costs more time than it saves.
MIN_COMPILED_WIDTH = 128
# For fewer classes, compiling costs more time than it saves.
MIN_COMPILED_CLASSES = 1024

# {function of modeling/ops.py: its faster version}. Any, because a dict cannot
# state that each version has the type of its function.
Versions: TypeAlias = dict[
    DispatchedFunction[Any, ..., Any], Callable[..., Any]
]

ALWAYS: Versions = {
    ops.dense: fusions.dense,
    ops.with_range_check: fusions.with_range_check,
    ops.look_up: fusions.look_up,
    ops.reshape_like: fusions.reshape_like,
    ops.keep_mask: compiled.keep_mask,
    ops.trace_once: tracing.trace_once,
}
MANY_CLASSES: Versions = {ops.cross_entropy: compiled.cross_entropy}
COMPILED: Versions = {
    ops.activation: compiled.activation,
    ops.attention_probs: compiled.attention_probs,
    ops.dropout: compiled.dropout,
    ops.dropout_add_norm: compiled.dropout_add_norm,
}
FUSED_ON_CPU: Versions = {
    ops.attention_probs: fusions.attention_probs,
    ops.dropout_add_norm: fusions.dropout_add_norm,
    ops.layer_norm: fusions.layer_norm,
}
INFERENCE: Versions = {
    ops.activation: fusions.activation,
    ops.swap_attention_heads: fusions.swap_attention_heads,
}


def choose_version(
    function: DispatchedFunction[FirstT, P, R],
    inputs: Any,  # noqa: ANN401  a tensor, unless ALWAYS has the function
    *,
    training: bool,
) -> Callable[Concatenate[FirstT, P], R] | None:
    """Returns the faster version of a function for one call.

    Returns None if the call should use the plain version. For example,
    `activation` is `compiled.activation` in training if the inputs have 256
    columns, None if they have 64, and `fusions.activation` in inference.

    Args:
        function: the function in modeling/ops.py.
        inputs: first argument of the call, a tensor unless the function is in
            `ALWAYS`.
        training: whether the call is part of a training step.
    """
    if function in ALWAYS:
        return ALWAYS[function]
    if function in MANY_CLASSES:
        has_many = (inputs.shape[-1] or 0) >= MIN_COMPILED_CLASSES
        is_eager = tf.executing_eagerly()
        return MANY_CLASSES[function] if has_many and not is_eager else None
    if training:
        is_wide = (inputs.shape[-1] or MIN_COMPILED_WIDTH) >= MIN_COMPILED_WIDTH
        return COMPILED.get(function) if is_wide else None
    if function in FUSED_ON_CPU and _is_in_cpu_graph(inputs):
        return FUSED_ON_CPU[function]
    return INFERENCE.get(function)


def _is_in_cpu_graph(inputs: tf.Tensor) -> bool:
    dtype = keras.backend.standardize_dtype(inputs.dtype)
    return (
        dtype in ("float32", "bfloat16")
        and not tf.executing_eagerly()
        and "CPU" in (inputs.device or "")
    )
