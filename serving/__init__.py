"""Exports models with `export`, and runs exported models with `load`."""

import importlib
from typing import TYPE_CHECKING

# ruff: noqa: F401
if TYPE_CHECKING:
    from serving.export_options import ExportOptions
    from serving.exports import export
    from serving.models import TextModel, load

# Import each module when a name in it is first used, so that a script prints
# --help and reports a wrong flag without loading TensorFlow.
_MODULES = {
    "ExportOptions": "serving.export_options",
    "TextModel": "serving.models",
    "export": "serving.exports",
    "load": "serving.models",
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
