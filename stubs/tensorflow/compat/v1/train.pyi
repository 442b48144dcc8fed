"""Types of `tf.compat.v1.train`."""

from collections.abc import Iterator
from typing import Any

# Messages of protocol buffers, whose classes are created at run time.
def summary_iterator(path: str) -> Iterator[Any]: ...
