"""Speeds up an optimizer's update: one trace per shape, compiled by XLA.

Without this module an optimizer is slower, but its results do not change.
`ops.plain()` disables this module and the network's fused operations.
"""

from collections.abc import Callable

import tensorflow as tf

from modeling import ops

# Minimum number of elements of a variable whose update is compiled by XLA.
LEAST_ELEMENTS = 65536


def traced(update: Callable[..., None]) -> Callable[..., None]:
    """Returns `update` as a function with one trace for each variable shape.

    Without such a function, the graph of a step repeats the operations for each
    variable. XLA compiles the update for large variables, so that it reads
    memory once instead of ten times.

    Args:
        update: function (variable, *tensors or numbers) -> None that assigns
            the variable.
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

    def run(variable: tf.Variable, *arguments: object) -> None:
        # With a strategy, the first trace would capture the variables of its
        # arguments, and use them in all later calls.
        if ops.is_plain() or tf.distribute.has_strategy():
            update(variable, *arguments)
        elif variable.shape.num_elements() >= LEAST_ELEMENTS:
            compiled(variable, *arguments)
        else:
            uncompiled(variable, *arguments)

    return run
