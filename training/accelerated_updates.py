"""Runs an optimizer's update fast: traced once per shape, compiled by XLA.

An optimizer without it computes the same, only slower.
"""

from collections.abc import Callable

import tensorflow as tf

# Elements of a variable from which compiling its update pays.
_LEAST_COMPILED = 65536


def traced(update: Callable[..., None]) -> Callable[..., None]:
    """Returns `update` so that variables of one shape share a trace.

    Without it the graph of a step holds the operations of each variable again.
    Compiled, the update of a large variable is one pass over memory
    instead of ten.

    Args:
        update: (variable, *tensors or numbers) -> None; assigns the variable.
    """
    plain, compiled = (
        tf.function(
            update,
            jit_compile=jit_compile,
            autograph=False,
            experimental_attributes={"_noinline": True},
        )
        for jit_compile in (None, True)
    )

    def run(variable: tf.Variable, *arguments: object) -> None:
        # A strategy's variables are captured by the trace of the first of a
        # shape, not handed over as arguments.
        if tf.distribute.has_strategy():
            update(variable, *arguments)
        elif variable.shape.num_elements() >= _LEAST_COMPILED:
            compiled(variable, *arguments)
        else:
            plain(variable, *arguments)

    return run
