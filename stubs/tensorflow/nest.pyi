"""Types of the functions of `tf.nest` that this project calls."""

from collections.abc import Callable
from typing import Any

def flatten(structure: object) -> list[Any]: ...

# The result has the structure of the arguments.
def map_structure(func: Callable[..., Any], *structure: Any) -> Any: ...
