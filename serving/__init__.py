"""Exports models with `export_...`, and runs exported models with `load`."""

import importlib
from typing import TYPE_CHECKING, Any

# ruff: noqa: F401
if TYPE_CHECKING:
    from serving.formats.base import ExportOptions
    from serving.models import TextModel, load
    from serving.signatures.answer import export_span_labeler
    from serving.signatures.classify import (
        export_classifier,
        export_multiple_choice,
        export_token_classifier,
    )
    from serving.signatures.embed import export_encoder
    from serving.signatures.words import export_pretrainer
    from training.exporting import export_task

# Import each module when a name in it is first used, so that a script prints
# --help and reports a wrong flag without loading TensorFlow.
_MODULES = {
    "ExportOptions": "serving.formats.base",
    "TextModel": "serving.models",
    "export_classifier": "serving.signatures.classify",
    "export_encoder": "serving.signatures.embed",
    "export_multiple_choice": "serving.signatures.classify",
    "export_pretrainer": "serving.signatures.words",
    "export_span_labeler": "serving.signatures.answer",
    "export_task": "training.exporting",
    "export_token_classifier": "serving.signatures.classify",
    "load": "serving.models",
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
