"""Creates models with the configuration and the weights of a folder."""

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, Unpack

from model_folders.bert_config import BertConfig, check_config
from model_folders.formats.shape_checks import describe_entries
from model_folders.reading.presets import Preset
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.finding import (
    check_checkpoint,
    check_files,
    open_checkpoint,
)
from modeling.checkpoints.loading import load_weights
from modeling.checkpoints.new_heads import find_num_outputs
from modeling.checkpoints.restore import LoadReport

if TYPE_CHECKING:
    from modeling.keras_fit import KerasFitModel
    from modeling.layers import ModelOptions

ModelT = TypeVar("ModelT", bound="KerasFitModel")

# Matches Google's and Hugging Face's names of the weights of pretraining, but
# not Model Garden's names of the heads of tasks.
_PRETRAINED_NAME = re.compile(
    r"(?:^|[./])(?:embeddings|encoder|pooler|seq_relationship"
    r"|predictions(?!/transform/logits))[./]"
)


def create_model(
    keras_class: type[ModelT],
    preset: Preset,
    *,
    config: BertConfig | None = None,
    output_names: Sequence[Sequence[str]] = (),
    replaces_head: bool = False,
    **options: Unpack["ModelOptions"],
) -> tuple[ModelT, LoadReport]:
    """Creates a model with the configuration and the weights of a folder.

    Args:
        keras_class: class of the model, one of this package.
        preset: what the files in the folder state.
        config: sizes and dropout rates of the network. None = as in the folder.
        output_names: as in `load_checkpoint`.
        replaces_head: as in `load_checkpoint`.
        **options: other arguments of the class. By default, as in the folder.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: the folder contains no BERT, or weights of other shapes. Or
            `num_labels` is neither set nor stated.
    """
    config = config or preset.load_config()
    if config is None:
        # Raises an error that says which library's weights the folder contains.
        check_checkpoint(preset)
        raise FileNotFoundError(
            f"{preset.path} contains no bert_config.json or config.json"
        )
    check_config(config)
    # Compare the sizes that the files state before a model of these sizes is
    # created.
    checkpoint = open_checkpoint(preset)
    check_files(checkpoint, preset, config)
    arguments = {
        **_find_stated_options(keras_class, preset, checkpoint),
        **options,
    }
    if _has_labels(keras_class) and "num_labels" not in arguments:
        other_names = describe_entries(_find_other_names(checkpoint))
        raise ValueError(
            f"{checkpoint.file} contains no head of a {keras_class.__name__} "
            "under the names of Google or of transformers, so it does not "
            f"state num_labels. {other_names}. "
            "Pass num_labels=N for a new head of N outputs, or rename the head"
        )
    model = keras_class(config, **arguments)
    report = load_weights(
        model,
        checkpoint,
        preset,
        output_names=output_names,
        replaces_head=replaces_head,
    )
    return model, report


def _has_labels(keras_class: type["KerasFitModel"]) -> bool:
    return "num_labels" in inspect.signature(keras_class).parameters


def _find_stated_options(
    keras_class: type["KerasFitModel"], preset: Preset, checkpoint: Checkpoint
) -> dict[str, object]:
    """Returns the arguments of the class that the folder states."""
    stated: dict[str, object] = {}
    is_own = preset.model_class == keras_class.__name__
    if _has_labels(keras_class) and (is_own or preset.model_class is None):
        num_outputs = find_num_outputs(checkpoint.shapes)
        if num_outputs is not None:
            stated["num_labels"] = num_outputs
    for name, value in preset.network.items():
        # The LSTM of --bilstm belongs to the head.
        if value and (is_own or name != "bilstm"):
            stated[name] = value
    return stated


def _find_other_names(checkpoint: Checkpoint) -> Iterator[str]:
    """Yields the names of the entries that no pretraining trained."""
    return (
        name for name in checkpoint.shapes if not _PRETRAINED_NAME.search(name)
    )
