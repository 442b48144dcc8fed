"""Loads checkpoints of any format into models, existing ones or new ones."""

import inspect
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar, Unpack

import keras
from absl import logging

from model_folders.bert_config import (
    BERT_CONFIG_FILE,
    HUGGINGFACE_CONFIG_FILE,
    BertConfig,
    check_config,
)
from model_folders.checkpoint_folders import RunStep
from model_folders.formats.head_names import find_num_outputs
from model_folders.formats.shape_checks import (
    check_initial_blocks,
    describe_entries,
)
from model_folders.labels import find_order
from model_folders.reading import folder_reading
from model_folders.reading.preset import PathOrPreset, Preset
from modeling.arguments import ModelArguments
from modeling.checkpoints.checkpoint import Checkpoint, LoadReport
from modeling.checkpoints.finding import (
    check_checkpoint,
    check_sizes,
    open_checkpoint,
)
from modeling.checkpoints.head_comparison import (
    describe_other_head,
    head_weight_names,
)
from modeling.checkpoints.variables import google_name_of

if TYPE_CHECKING:
    from modeling.keras_fit import KerasFitModel

ModelT = TypeVar("ModelT", bound="KerasFitModel")

# Matches Google's and Hugging Face's names of the weights of a block.
_BLOCK_NAME = re.compile(r"bert[/.]encoder[/.]layer[_.]")
# Matches Google's and Hugging Face's names of the weights of pretraining, but
# not Model Garden's names of the heads of tasks.
_PRETRAINED_NAME = re.compile(
    r"(?:^|[./])(?:embeddings|encoder|pooler|seq_relationship"
    r"|predictions(?!/transform/logits))[./]"
)


def load_checkpoint(
    model: keras.Model,
    path_or_preset: PathOrPreset,
    *,
    initial_blocks: Sequence[int] | None = None,
    label_alternatives: Sequence[Sequence[str]] = (),
    run_step: RunStep = "reported",
    replaces_head: bool = False,
) -> LoadReport:
    """Loads a checkpoint of BERT into a model, in any format that we read.

    Args:
        model: any model of this package, or a built keras.Model that contains
            such a model.
        path_or_preset: path of a checkpoint, or of the folder that contains it:
            of TF1, such as `bert_model.ckpt`, of transformers
            (`model.safetensors`, `pytorch_model.bin` or `tf_model.h5`), a
            preset of KerasHub, or an object-based checkpoint, such as Model
            Garden's. Or the Preset of the folder, whose files are then not read
            again. Of the folder of a training run, the function loads the
            weights that the run exports. These are the weights of the best
            step, or of the last step with --noload_best or without a best step.
            The log names the step.
        initial_blocks: for each block of the model, the number of the
            checkpoint's block to start from, such as `[0, 2, 5]` for a
            student of 3 blocks. If None, block i starts from the
            checkpoint's block i.
        label_alternatives: lists of names of the model's outputs, in order,
            such as `[["no", "yes"]]`. Several lists are alternative names. If
            the checkpoint's folder lists the same names in a different order,
            the function reorders the outputs of the head. If the folder lists
            other names, the head does not change.
        run_step: "best" or "last", to load this step if the path is the folder
            of a training run. By default the step that the run reports.
        replaces_head: whether the head keeps its random values if the folder
            contains the head of another class of models, of other labels or of
            another number of outputs. The log says so. If False, another
            number of outputs is an error, and the function loads any other
            head that fits.

    Returns:
        `LoadReport` with `loaded`, `missing` and `unused` names. If the
        checkpoint lacks the head, the head keeps its random values.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: the checkpoint cannot be read.
        ValueError: `initial_blocks` does not name one block for each block of
            the model, or `model` has no `config` to compare. A variable of the
            encoder is missing or has another shape, a value is not a finite
            floating-point number, or the path contains an adapter.
    """
    if initial_blocks is not None:
        # A user's model around a BertModel has no `config`.
        config = getattr(model, "config", None)
        if not isinstance(config, BertConfig):
            raise ValueError(
                "`initial_blocks` needs a model with a BertConfig. Load the "
                "checkpoint into the BertModel that the model contains"
            )
        check_initial_blocks(config, initial_blocks)
    preset = None
    if isinstance(path_or_preset, Preset):
        preset = path_or_preset
    elif label_alternatives or replaces_head:
        preset = folder_reading.read_preset(path_or_preset)
    checkpoint = open_checkpoint(preset or path_or_preset, run_step=run_step)
    return _load_weights(
        model,
        checkpoint,
        preset,
        initial_blocks=initial_blocks,
        label_alternatives=label_alternatives,
        replaces_head=replaces_head,
    )


def create_model(
    keras_class: type[ModelT],
    preset: Preset,
    *,
    config: BertConfig | None = None,
    label_alternatives: Sequence[Sequence[str]] = (),
    replaces_head: bool = False,
    **arguments: Unpack[ModelArguments],
) -> tuple[ModelT, LoadReport]:
    """Creates a model with the configuration and the weights of a folder.

    Args:
        keras_class: class of the model, one of this package.
        preset: what the files in the folder state.
        config: sizes and dropout rates of the network. If None, the folder
            states them.
        label_alternatives: lists of names of the model's outputs, in order. If
            the folder lists the names of one of them in another order, the
            outputs of the head are reordered.
        replaces_head: whether the head keeps its random values if the folder
            contains another head.
        **arguments: other arguments of the class. By default, the folder states
            them.

    Returns:
        (model, report of its weights).

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: the folder contains no BERT or weights of other shapes, or
            `num_labels` is neither set nor stated.
    """
    config = config or preset.load_config()
    if config is None:
        # An error about the weights says more than that a configuration is
        # missing.
        check_checkpoint(preset)
        raise _missing_config_error(preset)
    check_config(config)
    # Compare the sizes that the files state before a model of these sizes is
    # created.
    checkpoint = open_checkpoint(preset)
    check_sizes(checkpoint, preset, config)
    arguments = {
        **_select_stated_options(keras_class, preset, checkpoint),
        **arguments,
    }
    if _has_labels(keras_class) and "num_labels" not in arguments:
        raise _unknown_num_labels_error(keras_class, checkpoint)
    model = keras_class(config, **arguments)
    report = _load_weights(
        model,
        checkpoint,
        preset,
        label_alternatives=label_alternatives,
        replaces_head=replaces_head,
    )
    return model, report


def _missing_config_error(preset: Preset) -> FileNotFoundError:
    """Returns the error for a folder that contains no configuration."""
    return FileNotFoundError(
        f"{preset.path} contains no {BERT_CONFIG_FILE} or "
        f"{HUGGINGFACE_CONFIG_FILE}"
    )


def _load_weights(
    model: keras.Model,
    checkpoint: Checkpoint,
    preset: Preset | None,
    *,
    initial_blocks: Sequence[int] | None = None,
    label_alternatives: Sequence[Sequence[str]] = (),
    replaces_head: bool = False,
) -> LoadReport:
    """Loads an open checkpoint with the arguments of `load_checkpoint`.

    The preset may be None without `label_alternatives` and without
    `replaces_head`.
    """
    new_head: Sequence[str] = ()
    if preset and replaces_head:
        if not model.built:
            model.build()
        reason = _describe_unusable_head(
            model, checkpoint, preset, label_alternatives
        )
        if reason:
            new_head = head_weight_names(model)
            logging.warning(
                "%s. The head starts at random values: %s.",
                reason,
                ", ".join(new_head),
            )
    report = checkpoint.load(model, initial_blocks, new_head)
    if initial_blocks is None and any(map(_BLOCK_NAME.match, report.unused)):
        logging.warning(
            "%s contains more blocks than num_hidden_layers. Outputs will be "
            "wrong unless the model is trained.",
            report.path,
        )
    if preset and label_alternatives:
        _reorder_outputs(model, preset, label_alternatives, report)
    return report


def _has_labels(keras_class: type["KerasFitModel"]) -> bool:
    return "num_labels" in inspect.signature(keras_class).parameters


def _select_stated_options(
    keras_class: type["KerasFitModel"], preset: Preset, checkpoint: Checkpoint
) -> ModelArguments:
    """Returns the arguments of the class that the folder states."""
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
    keras_class: type["KerasFitModel"], checkpoint: Checkpoint
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


def _describe_unusable_head(
    model: keras.Model,
    checkpoint: Checkpoint,
    preset: Preset,
    label_alternatives: Sequence[Sequence[str]],
) -> str | None:
    """Returns why a built model cannot use the head in a folder.

    Returns None if the model can use the head, or if the model has no head.
    """
    if not head_weight_names(model):
        return None
    # Check the files first, so that a damaged file is an error before anyone
    # logs something about its head.
    check_sizes(checkpoint, preset, config=None)
    return describe_other_head(
        model, preset, checkpoint.shapes, label_alternatives
    )


def _reorder_outputs(
    model: keras.Model,
    preset: Preset,
    label_alternatives: Sequence[Sequence[str]],
    report: LoadReport,
) -> None:
    """Puts the loaded outputs into the order of a list in `label_alternatives`.

    Does nothing unless the folder lists the names of one of these lists in
    another order.
    """
    order = find_order(preset.labels or (), label_alternatives)
    if not order or order == sorted(order):
        return
    names = ", ".join(label_alternatives[0])
    logging.info("%s: reordered the outputs to %s", preset.weights_path, names)
    for variable in model.weights:
        name = google_name_of(variable)
        if name in {"output_weights", "output_bias"} & {*report.loaded}:
            variable.assign(keras.ops.take(variable, order, axis=0))
