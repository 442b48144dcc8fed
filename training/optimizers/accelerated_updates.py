"""Speeds up an optimizer's update: one trace per shape, compiled by XLA.

Without this module an optimizer is slower, but its results do not change.
`ops.plain_versions()` disables this module and the network's fused operations.
"""

from collections.abc import Callable

import tensorflow as tf

from modeling import dispatch

# Minimum number of elements in a variable for XLA to compile its update.
MIN_COMPILED_ELEMENTS = 65536


def trace_update(update: Callable[..., None]) -> Callable[..., None]:
    """Returns `update` as a function with one trace for each variable shape.

    If a step called `update` directly, the step's graph would repeat the
    operations for each variable. For large variables, XLA compiles the update,
    which then reads memory once instead of ten times.

    Args:
        update: function (variable, **tensors or numbers) -> None that assigns
            a new value to the variable.
    """
    uncompiled, compiled = (
        tf.function(
            update,
            jit_compile=jit_compile,
            autograph=False,
            experimental_attributes={"_noinline": True},
        )
        for jit_compile in (None, True)
    )

    def run(variable: tf.Variable, **arguments: object) -> None:
        # With a strategy, the first trace would capture its argument variables,
        # and later calls would update these instead of their own arguments.
        if dispatch.uses_plain_versions() or tf.distribute.has_strategy():
            update(variable, **arguments)
        elif variable.shape.num_elements() >= MIN_COMPILED_ELEMENTS:
            compiled(variable, **arguments)
        else:
            uncompiled(variable, **arguments)

    return run
