"""Types of the functions on nested tuples, lists and dicts."""

from collections.abc import Callable
from typing import Any

# What is nested, and how deep, only the caller knows.
def flatten(structure: Any) -> list[Any]: ...
def map_structure(
    func: Callable[..., Any], *structures: Any, none_is_leaf: bool = True
) -> Any: ...
