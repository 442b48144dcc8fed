"""Types of the functions that save and load SavedModels."""

from collections.abc import Collection
from typing import Any

# What a SavedModel contains depends on its export.
def load(
    export_dir: str,
    tags: str | Collection[str] | None = None,
    options: Any = None,
) -> Any: ...
def save(
    obj: Any, export_dir: str, signatures: Any = None, options: Any = None
) -> None: ...
