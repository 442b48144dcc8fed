"""The network: BERT's encoder, the tasks' heads and losses, and checkpoints."""

from typing import TYPE_CHECKING

from command_line import lazy

# ruff: noqa: F401
if TYPE_CHECKING:
    # The names of this package, which `lazy` imports at their first use.
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
    from modeling.checkpoints.kerashub import save_kerashub
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

# {name: its module}
_MODULES = lazy.read_imports(__file__)

__all__ = [*_MODULES]
__getattr__ = lazy.importer(__name__, _MODULES)
