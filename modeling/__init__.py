"""The network: BERT's encoder, the tasks' heads and losses, and checkpoints.

Begin with `BertConfig`, the sizes and rates of a network. It is in
model_folders/bert_config.py, because it needs no Keras. Beside it, kinds.py
lists what differs between the classes of models.

The network and its heads:

    bert.py: `BertModel`: the embeddings, the encoder and the pooler
    embeddings.py: words, positions and segments to vectors
    encoder.py: the blocks of the encoder
    attention.py: multi-head attention
    dense.py: a dense layer with its activation
    layers.py: `BertLayer`, the base class of the layers
    arguments.py: types of the arguments that layers and models share
    initializers.py: the initial weights
    heads.py: what each task adds to the encoder
    base_task_model.py: `TaskModel`, the base class: an encoder with a head,
        and `OneHeadModel`, whose head is one layer
    task_models.py: `BertClassifier` and its siblings, one for each task

What the models learn:

    base_loss.py: `Loss`, the base class of the losses of tasks
    losses.py: the formula of each task's loss
    distillation.py: the loss of a student, which learns from a teacher

What Keras calls:

    features.py: the features that models read, and checks of a batch
    keras_fit.py: `KerasFitModel`, which `fit` trains with these losses on dicts
        of features
    base_model.py: `BaseModel`, the base class of all models, which is created
        from a folder of weights, and which Keras saves, quantizes and exports
    keras_export.py: the shapes with which Keras exports a model

What the layers compute with:

    tensors.py: types of tensors, and of what models read and return
    ops.py: building blocks, which call faster versions on TensorFlow
    sequence_ops.py: attention masks, and the vectors at some positions
    plain_ops.py: formulas of ops.py in `keras.ops`, which XLA compiles too
    row_layouts.py: leaves the rows of padding out
    packing.py: packs short sequences into long ones, for attention
    accelerated/: the faster versions, which TensorFlow fuses or compiles

Files of weights:

    checkpoints/: loads such files into any `KerasFitModel`, and writes such
        files. Of the modules above, only base_model.py imports it

`__all__` lists what users call, by the groups of `_MODULE_OF_NAME` below.
`help(modeling.NAME)` and docs/api.md describe each name. `__version__` is the
version of the project.
"""

from typing import TYPE_CHECKING, Any

from dependencies import lazy
from dependencies.installation import read_version
from dependencies.registration import register_saved_classes
from model_folders.saved_classes import (
    MODULE_OF_MODELING_CLASS,
    MODULE_OF_SAVED_CLASS,
)

if TYPE_CHECKING:
    # The names of this package, for type checkers and editors. `as` tells them
    # that the names are public.
    from model_folders.bert_config import BertConfig as BertConfig
    from model_folders.formats.huggingface_weights import (
        find_huggingface as find_huggingface,
    )
    from model_folders.reading.config_files import load_config as load_config
    from modeling.bert import BertModel as BertModel
    from modeling.checkpoints.finding import (
        check_checkpoint as check_checkpoint,
    )
    from modeling.checkpoints.finding import find_checkpoint as find_checkpoint
    from modeling.checkpoints.finding import read_shapes as read_shapes
    from modeling.checkpoints.huggingface_writer import (
        save_huggingface as save_huggingface,
    )
    from modeling.checkpoints.kerashub_writer import (
        save_kerashub as save_kerashub,
    )
    from modeling.checkpoints.loading import load_checkpoint as load_checkpoint
    from modeling.checkpoints.tf1_writer import (
        save_checkpoint as save_checkpoint,
    )
    from modeling.checkpoints.tf1_writer import save_release as save_release
    from modeling.checkpoints.variables import (
        named_variables as named_variables,
    )
    from modeling.checkpoints.vocabulary_extension import (
        extend_model as extend_model,
    )
    from modeling.distillation import DistillationLoss as DistillationLoss
    from modeling.distillation import Distiller as Distiller
    from modeling.losses import ClassifierLoss as ClassifierLoss
    from modeling.losses import ContrastiveLoss as ContrastiveLoss
    from modeling.losses import CosineLoss as CosineLoss
    from modeling.losses import MultiLabelLoss as MultiLabelLoss
    from modeling.losses import PretrainingLoss as PretrainingLoss
    from modeling.losses import RankingLoss as RankingLoss
    from modeling.losses import RegressionLoss as RegressionLoss
    from modeling.losses import SpanLoss as SpanLoss
    from modeling.losses import TokenLoss as TokenLoss
    from modeling.task_models import BertClassifier as BertClassifier
    from modeling.task_models import BertEmbedder as BertEmbedder
    from modeling.task_models import BertMultipleChoice as BertMultipleChoice
    from modeling.task_models import BertPretrainer as BertPretrainer
    from modeling.task_models import BertSpanLabeler as BertSpanLabeler
    from modeling.task_models import BertTokenClassifier as BertTokenClassifier

# {name: its module}, as in the imports above. `lazy` imports a module at the
# first use of its name.
_MODULE_OF_NAME = {
    # The sizes of a network, the networks and their losses.
    "BertConfig": "model_folders.bert_config",
    **MODULE_OF_MODELING_CLASS,
    # A student and its teacher.
    "DistillationLoss": "modeling.distillation",
    "Distiller": "modeling.distillation",
    # Loading into a model.
    "load_checkpoint": "modeling.checkpoints.loading",
    "load_config": "model_folders.reading.config_files",
    # Looking into files of weights.
    "find_checkpoint": "modeling.checkpoints.finding",
    "check_checkpoint": "modeling.checkpoints.finding",
    "read_shapes": "modeling.checkpoints.finding",
    "find_huggingface": "model_folders.formats.huggingface_weights",
    # Writing a model.
    "save_checkpoint": "modeling.checkpoints.tf1_writer",
    "save_release": "modeling.checkpoints.tf1_writer",
    "save_huggingface": "modeling.checkpoints.huggingface_writer",
    "save_kerashub": "modeling.checkpoints.kerashub_writer",
    # A model in memory.
    "named_variables": "modeling.checkpoints.variables",
    "extend_model": "modeling.checkpoints.vocabulary_extension",
}

__all__ = [*_MODULE_OF_NAME]
_import_name = lazy.create_importer(__name__, _MODULE_OF_NAME)

# A `.keras` file of a model names its class and its loss.
register_saved_classes(MODULE_OF_SAVED_CLASS)


def __getattr__(name: str) -> Any:  # noqa: ANN401  classes and functions
    return read_version() if name == "__version__" else _import_name(name)
