"""Runs an optimizer's update fast: traced once per shape, compiled by XLA.

Optional: without it an optimizer computes the same, only slower. `ops.plain()`
switches it off along with the network's faster forms.
"""

from collections.abc import Callable

import tensorflow as tf

from modeling import ops

# Minimum elements of a variable whose update is compiled.
LEAST_ELEMENTS = 65536


def traced(update: Callable[..., None]) -> Callable[..., None]:
    """Wraps `update` so that variables of one shape share a trace.

    Otherwise the graph of a step repeats the operations for each variable.
    Compiled, the update of a large variable is one pass over memory instead of
    ten.

    Args:
        update: (variable, *tensors or numbers) -> None; assigns the variable.
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
        # The first trace of a shape captures a strategy's variables instead of
        # taking them as arguments.
        if ops.is_plain() or tf.distribute.has_strategy():
            update(variable, *arguments)
        elif variable.shape.num_elements() >= LEAST_ELEMENTS:
            compiled(variable, *arguments)
        else:
            uncompiled(variable, *arguments)

    return run
