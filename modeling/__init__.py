"""The network: BERT's encoder, the tasks' heads and losses, and checkpoints."""

import ast
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

# ruff: noqa: F401
if TYPE_CHECKING:
    # The names of this package. Python imports each name at its first use, so
    # that a script can print --help or report a wrong flag without TensorFlow.
    from modeling.bert import BertModel
    from modeling.checkpoints import (
        extend_model,
        find_checkpoint,
        load_checkpoint,
        read_shapes,
    )
    from modeling.checkpoints.huggingface import (
        find_huggingface,
        save_huggingface,
    )
    from modeling.checkpoints.names import named_variables
    from modeling.checkpoints.tf1 import save_checkpoint, save_release
    from modeling.config import BertConfig
    from modeling.config_files import load_config
    from modeling.distillation import DistillationLoss, Distiller
    from modeling.labels import find_order
    from modeling.losses import (
        ClassifierLoss,
        ContrastiveLoss,
        CosineLoss,
        MultiLabelLoss,
        PretrainingLoss,
        RankingLoss,
        RegressionLoss,
        SpanLoss,
        TokenLoss,
    )
    from modeling.tasks import (
        BertClassifier,
        BertEmbedder,
        BertMultipleChoice,
        BertPretrainer,
        BertSpanLabeler,
        BertTokenClassifier,
    )

# {name: its module}, read from the imports above.
_MODULES = {
    alias.name: node.module
    for node in ast.walk(ast.parse(Path(__file__).read_text()))
    if isinstance(node, ast.ImportFrom)
    if node.module and node.module.startswith("modeling.")
    for alias in node.names
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    """Imports a name of this package at its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
