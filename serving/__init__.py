"""Exports models with `export_...`, and runs exported models with `load`."""

import importlib
from typing import TYPE_CHECKING, Any

# ruff: noqa: F401
if TYPE_CHECKING:
    from serving.classifier import (
        export_classifier,
        export_multiple_choice,
        export_token_classifier,
    )
    from serving.encoder import export_encoder
    from serving.evaluation import export_task
    from serving.export.formats import ExportOptions
    from serving.models import TextModel, load
    from serving.pretraining import export_pretrainer
    from serving.squad import export_span_labeler

# Import each module when a name in it is first used, so that a script prints
# --help and reports a wrong flag without loading TensorFlow.
_MODULES = {
    "ExportOptions": "serving.export.formats",
    "TextModel": "serving.models",
    "export_classifier": "serving.classifier",
    "export_encoder": "serving.encoder",
    "export_multiple_choice": "serving.classifier",
    "export_pretrainer": "serving.pretraining",
    "export_span_labeler": "serving.squad",
    "export_task": "serving.evaluation",
    "export_token_classifier": "serving.classifier",
    "load": "serving.models",
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
