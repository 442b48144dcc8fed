"""Creates models of the sizes of a checkpoint, or with a longer vocabulary."""

import inspect
import re
from typing import TypeVar, Unpack

from model_folders.bert_config import (
    BERT_CONFIG_FILE,
    HUGGINGFACE_CONFIG_FILE,
    BertConfig,
    check_config,
)
from model_folders.formats.head_names import find_num_outputs
from model_folders.formats.shape_checks import describe_entries
from modeling.arguments import ModelArguments
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.keras_fit import KerasFitModel

ModelT = TypeVar("ModelT", bound=KerasFitModel)

# Matches Google's and Hugging Face's names of the weights of pretraining, but
# not Model Garden's names of the heads of tasks.
_PRETRAINED_NAME = re.compile(
    r"(?:^|[./])(?:embeddings|encoder|pooler|seq_relationship"
    r"|predictions(?!/transform/logits))[./]"
)


def create_model(
    keras_class: type[ModelT],
    checkpoint: Checkpoint,
    config: BertConfig | None = None,
    **arguments: Unpack[ModelArguments],
) -> ModelT:
    """Creates a model of a checkpoint's sizes, with random weights.

    `load_checkpoint` then loads the values of the weights.

    Args:
        keras_class: class of the model, one of this package.
        checkpoint: the open checkpoint, with the Preset of its folder.
        config: sizes and dropout rates of the network. If None, the folder
            states them.
        **arguments: other arguments of the class. By default, the folder states
            them.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: the folder contains no BERT or weights of other sizes, or
            `num_labels` is neither set nor stated.
    """
    config = config or checkpoint.preset.load_config()
    if config is None:
        # An error about the weights says more than that a configuration is
        # missing.
        checkpoint.check_sizes(config=None)
        raise FileNotFoundError(
            f"{checkpoint.preset.folder} contains no {BERT_CONFIG_FILE} or "
            f"{HUGGINGFACE_CONFIG_FILE}"
        )
    check_config(config)
    # Compare the sizes that the files state before a model of these sizes is
    # created.
    checkpoint.check_sizes(config)
    arguments = {
        **_select_stated_arguments(keras_class, checkpoint),
        **arguments,
    }
    if _has_labels(keras_class) and "num_labels" not in arguments:
        raise _unknown_num_labels_error(keras_class, checkpoint)
    return keras_class(config, **arguments)


def _has_labels(keras_class: type[KerasFitModel]) -> bool:
    return "num_labels" in inspect.signature(keras_class).parameters


def _select_stated_arguments(
    keras_class: type[KerasFitModel], checkpoint: Checkpoint
) -> ModelArguments:
    """Returns the arguments of the class that the folder states."""
    preset = checkpoint.preset
    stated: ModelArguments = {}
    is_own = preset.model_class == keras_class.__name__
    if _has_labels(keras_class) and (is_own or preset.model_class is None):
        num_outputs = find_num_outputs(checkpoint.shapes)
        if num_outputs is not None:
            stated["num_labels"] = num_outputs
    if preset.network_arguments["left_to_right"]:
        stated["left_to_right"] = True
    # The LSTM of --bilstm belongs to the head.
    if preset.network_arguments["bilstm"] and is_own:
        stated["bilstm"] = True
    return stated


def _unknown_num_labels_error(
    keras_class: type[KerasFitModel], checkpoint: Checkpoint
) -> ValueError:
    """Returns the error for a checkpoint that contains no head of a class.

    The error lists the entries that may be a head under other names.
    """
    others = describe_entries(
        name for name in checkpoint.shapes if not _PRETRAINED_NAME.search(name)
    )
    return ValueError(
        f"{checkpoint.file} contains no head of a {keras_class.__name__} "
        "under the names of Google or of transformers, so it does not state "
        f"num_labels. {others}. "
        "Pass num_labels=N for a new head of N outputs, or rename the head"
    )
