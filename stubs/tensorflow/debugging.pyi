"""Types of the checks of `tf.debugging`."""

# ruff: noqa: N802  TensorFlow names a function like a class.

from collections.abc import Sequence

from tensorflow._tensors import Operation, Value

# None outside of a graph.
def Assert(
    condition: Value, data: Sequence[Value], summarize: int | None = None
) -> Operation | None: ...
