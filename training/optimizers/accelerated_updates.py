"""Speeds up an optimizer's update: one trace per shape, compiled by XLA.

Without this module an optimizer is slower, but its results do not change.
`ops.plain_versions()` disables this module and the network's fused operations.
"""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

import tensorflow as tf

from modeling import ops

# Minimum number of elements in a variable for XLA to compile its update.
MIN_COMPILED_ELEMENTS = 65536
# What an update reads beside the variable: tensors and numbers.
ArgumentsT = ParamSpec("ArgumentsT")


def trace_update(
    update: Callable[Concatenate[tf.Variable, ArgumentsT], None],
) -> Callable[Concatenate[tf.Variable, ArgumentsT], None]:
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

    def run(
        variable: tf.Variable,
        /,
        *args: ArgumentsT.args,
        **kwargs: ArgumentsT.kwargs,
    ) -> None:
        # With a strategy, the first trace would capture its argument variables,
        # and later calls would update these instead of their own arguments.
        if ops.uses_plain_versions() or tf.distribute.has_strategy():
            update(variable, *args, **kwargs)
        elif variable.shape.num_elements() >= MIN_COMPILED_ELEMENTS:
            compiled(variable, *args, **kwargs)
        else:
            uncompiled(variable, *args, **kwargs)

    return run
