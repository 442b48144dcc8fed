"""Types of the functions that save and load SavedModels."""

from collections.abc import Collection, Mapping
from typing import Any

from tensorflow._graphs import Module
from tensorflow.types.experimental import ConcreteFunction

# What a SavedModel contains depends on its export.
def load(
    export_dir: str,
    tags: str | Collection[str] | None = None,
) -> Any: ...
def save(
    obj: Module,
    export_dir: str,
    signatures: Mapping[str, ConcreteFunction] | None = None,
) -> None: ...
