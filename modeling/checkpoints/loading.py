"""Finds and loads checkpoints of any format, and creates models of them."""

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar, Unpack

import keras
from absl import logging

from files.paths import StrPath
from model_folders import preset_reading
from model_folders.bert_config import BertConfig, check_config
from model_folders.checkpoint_folders import find_tf1_checkpoint
from model_folders.formats.sizes import (
    check_sizes,
    check_source_blocks,
    describe_entries,
)
from model_folders.labels import find_order
from model_folders.presets import Preset
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.foreign import ForeignCheckpoint, FormatReader
from modeling.checkpoints.huggingface import (
    HuggingFaceCheckpoint,
    find_huggingface,
)
from modeling.checkpoints.names import original_name
from modeling.checkpoints.new_heads import (
    find_num_outputs,
    find_other_outputs,
    head_weight_names,
)
from modeling.checkpoints.restore import LoadReport

if TYPE_CHECKING:
    from modeling.fitted_model import FittedModel
    from modeling.model_options import ModelOptions

# A checkpoint, the folder that contains it, or what the folder's files state.
Source: TypeAlias = StrPath | Preset

ModelT = TypeVar("ModelT", bound="FittedModel")

# Matches Google's and Hugging Face's names of the weights of pretraining, but
# not Model Garden's names of the heads of tasks.
_PRETRAINED_NAME = re.compile(
    r"(?:^|[./])(?:embeddings|encoder|pooler|seq_relationship"
    r"|predictions(?!/transform/logits))[./]"
)
# The same of the weights of a block.
_BLOCK_NAME = re.compile(r"bert[/.]encoder[/.]layer[_.]")


class LoadOptions(NamedTuple):
    """Options for loading a checkpoint into a model.

    Attributes:
        source_blocks: for each block of the model, the number of the
            checkpoint's block to start from. None = block i starts from the
            checkpoint's block i.
        output_names: lists of names of the model's outputs, in order, each an
            alternative. [] if their order does not matter.
        replaces_head: whether a head of another kind, with other labels or with
            another number of outputs, is left out.
    """

    source_blocks: Sequence[int] | None = None
    output_names: Sequence[Sequence[str]] = ()
    replaces_head: bool = False


def _checkpoint_of(
    source: Source, prefers_best: bool | None = None
) -> Checkpoint:
    """Returns the checkpoint that a path names or contains."""
    model_json = None
    if isinstance(source, Preset):
        model_json = source.model_json
        source = source.weights
    if file := find_huggingface(source):
        return HuggingFaceCheckpoint(file)

    # These formats need h5py or TensorFlow.
    from model_folders.formats import (
        kerashub_weights,
        object_weights,
        tf_h5_weights,
    )

    readers: Sequence[FormatReader] = (
        kerashub_weights,
        tf_h5_weights,
        object_weights,
    )
    for reader in readers:
        if file := reader.find_weights(source):
            return ForeignCheckpoint(file, reader)

    prefix = find_tf1_checkpoint(source, prefers_best, model_json)
    # Import after a checkpoint is found, because only this format needs
    # TensorFlow, which other backends of Keras lack.
    from modeling.checkpoints.tf1 import Tf1Checkpoint

    return Tf1Checkpoint(prefix)


def find_checkpoint(
    path: Source,
    best: bool | None = None,
    config: BertConfig | None = None,
    layers: Sequence[int] | None = None,
) -> str:
    """Returns the file, or the prefix of the files, of a checkpoint.

    Checks the sizes of the checkpoint's files, not the values in them.

    Args:
        path: path of the checkpoint, or its Preset, as for load_checkpoint.
        best: whether to prefer the best step if `path` is the folder of a
            training run. None = as the run reports (its flag --load_best).
        config: configuration of the model that will load the checkpoint, to
            compare its sizes before the model is created. None = do not
            compare.
        layers: as in `load_checkpoint`.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: a file of the checkpoint is missing, truncated or malformed.
        ValueError: `path` contains an adapter, or lacks the encoder of
            `config`.
    """
    preset = path if isinstance(path, Preset) else None
    checkpoint = _checkpoint_of(path, prefers_best=best)
    _check_files(checkpoint, preset, config, source_blocks=layers)
    return checkpoint.file


def _check_files(
    checkpoint: Checkpoint,
    preset: Preset | None,
    config: BertConfig | None,
    source_blocks: Sequence[int] | None = None,
) -> None:
    """Checks the sizes of a checkpoint's files, and of the entries in them.

    The entries must have the sizes in `config`, unless it is None.
    """
    shapes = checkpoint.google_shapes()
    if config is not None:
        is_stated = preset is not None and config is preset.load_config()
        config_file = preset.config_file if preset and is_stated else None
        check_sizes(checkpoint.file, shapes, config, source_blocks, config_file)


def load_checkpoint(
    model: "FittedModel",
    path: Source,
    layers: Sequence[int] | None = None,
    labels: Sequence[Sequence[str]] = (),
    best: bool | None = None,
    replaces_head: bool = False,
) -> LoadReport:
    """Loads a checkpoint of BERT into a model, in any format that we read.

    Args:
        model: any model of this package, built or not.
        path: a checkpoint, or the folder that contains it: of TF1, such as
            `bert_model.ckpt`, of transformers (`model.safetensors`,
            `pytorch_model.bin` or `tf_model.h5`), a preset of KerasHub, or an
            object-based checkpoint, such as Model Garden's. Or a Preset, whose
            files are then not read again. For the folder of a training run,
            the function loads the weights that the run exports: the best step,
            or with --noload_best, or if there is no best step, the last step.
            The log names the step.
        layers: for each block of the model, the number of the checkpoint's
            block to start from, such as `[0, 2, 5]` for a student of 3 blocks.
            None = block i starts from the checkpoint's block i.
        labels: lists of names of the model's outputs, in order, such as
            `[["no", "yes"]]`. Several lists are alternative names. If the
            checkpoint's folder lists the same names in a different order, the
            function reorders the outputs of the head. If the folder lists other
            names, the head does not change.
        best: whether to prefer the best step if `path` is the folder of a
            training run. None = as the run reports (its flag --load_best).
        replaces_head: whether the head keeps its random values if the folder
            contains a head of another kind, with other labels or with another
            number of outputs. The log says so. If False, another number of
            outputs is an error, and the function loads any other head that
            fits.

    Returns:
        `LoadReport` with `loaded`, `missing` and `unused` names. If the
        checkpoint lacks the head, the head keeps its random values.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: the checkpoint cannot be read.
        ValueError: `layers` does not name one block for each block of the
            model, a variable of the encoder is missing or has another shape, a
            value is not a finite floating-point number, or `path` contains an
            adapter.
    """
    options = LoadOptions(
        source_blocks=layers, output_names=labels, replaces_head=replaces_head
    )
    if layers is not None:
        check_source_blocks(model.config, layers)
    preset = None
    if isinstance(path, Preset):
        preset = path
    elif options.output_names or options.replaces_head:
        preset = preset_reading.read_preset(path)
    checkpoint = _checkpoint_of(preset or path, prefers_best=best)
    return _load_weights(model, checkpoint, preset, options)


def _load_weights(
    model: "FittedModel",
    checkpoint: Checkpoint,
    preset: Preset | None,
    options: LoadOptions,
) -> LoadReport:
    """Loads a checkpoint, as `load_checkpoint` does.

    `preset` is what its folder states, None if that is not needed.
    """
    source_blocks, output_names, replaces_head = options
    new_head: Sequence[str] = ()
    if preset and replaces_head:
        new_head = _find_new_head(model, checkpoint, preset, output_names)
    report = checkpoint.load(model, source_blocks, new_head)
    if source_blocks is None and any(map(_BLOCK_NAME.match, report.unused)):
        logging.warning(
            "%s contains more blocks than num_hidden_layers. Outputs will be "
            "wrong unless the model is trained.",
            report.path,
        )
    if preset and output_names:
        _reorder_outputs(model, preset, output_names, report)
    return report


def create_model(
    model_class: type[ModelT],
    preset: Preset,
    load_options: LoadOptions,
    config: BertConfig | None = None,
    **options: Unpack["ModelOptions"],
) -> tuple[ModelT, LoadReport]:
    """Creates a model with the configuration and the weights of a folder.

    Args:
        model_class: class of the model, one of this package.
        preset: what the files in the folder state.
        load_options: how to load the weights.
        config: sizes and dropout rates of the network. None = as in the folder.
        **options: other arguments of the class. By default, as in the folder.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: the folder contains no BERT, or weights of other shapes. Or
            `num_labels` is neither set nor stated.
    """
    config = config or preset.load_config()
    if config is None:
        # Says which other library's weights the folder contains.
        find_checkpoint(preset)
        raise FileNotFoundError(
            f"{preset.path} contains no bert_config.json or config.json"
        )
    check_config(config)
    # Compare the sizes that the files state before a model of these sizes is
    # created.
    checkpoint = _checkpoint_of(preset)
    _check_files(checkpoint, preset, config)
    arguments = {
        **_find_stated_options(model_class, preset, checkpoint),
        **options,
    }
    if _has_labels(model_class) and "num_labels" not in arguments:
        other_names = describe_entries(_find_other_names(checkpoint))
        raise ValueError(
            f"{checkpoint.file} contains no head of a {model_class.__name__} "
            "under the names of Google or of transformers, so it does not "
            f"state num_labels. {other_names}. "
            "Pass num_labels=N for a new head of N outputs, or rename the head"
        )
    model = model_class(config, **arguments)
    report = _load_weights(model, checkpoint, preset, load_options)
    return model, report


def _has_labels(model_class: type["FittedModel"]) -> bool:
    return "num_labels" in inspect.signature(model_class).parameters


def _find_stated_options(
    model_class: type["FittedModel"], preset: Preset, checkpoint: Checkpoint
) -> dict[str, object]:
    """Returns the arguments of the class that the folder states."""
    stated: dict[str, object] = {}
    is_own = preset.model_class == model_class.__name__
    if _has_labels(model_class) and (is_own or preset.model_class is None):
        num_outputs = find_num_outputs(checkpoint.shapes)
        if num_outputs is not None:
            stated["num_labels"] = num_outputs
    for name, value in preset.network.items():
        # The LSTM of --bilstm belongs to the head.
        if value and (is_own or name != "bilstm"):
            stated[name] = value
    return stated


def _find_new_head(
    model: "FittedModel",
    checkpoint: Checkpoint,
    preset: Preset,
    output_names: Sequence[Sequence[str]],
) -> list[str]:
    """Returns the names of the head's weights that keep their random values.

    They are none if the folder's head is of use for the model, or if the model
    has no head. Otherwise the log says why.
    """
    if not model.built:
        model.build()
    names = head_weight_names(model)
    if not names:
        return []
    # A damaged file is an error before the log says what becomes of its head.
    _check_files(checkpoint, preset, config=None)
    reason = find_other_outputs(model, preset, checkpoint.shapes, output_names)
    if not reason:
        return []
    logging.warning(
        "%s. The head starts at random values: %s.", reason, ", ".join(names)
    )
    return names


def _reorder_outputs(
    model: "FittedModel",
    preset: Preset,
    output_names: Sequence[Sequence[str]],
    report: LoadReport,
) -> None:
    """Gives the loaded outputs the order of the labels.

    Does nothing unless the folder lists the same labels in another order.
    """
    order = find_order(preset.labels or (), output_names)
    if not order or order == sorted(order):
        return
    names = ", ".join(output_names[0])
    logging.info("%s: reordered the outputs to %s", preset.weights, names)
    for variable in model.weights:
        name = original_name(variable)
        if name in {"output_weights", "output_bias"} & {*report.loaded}:
            variable.assign(keras.ops.take(variable, order, axis=0))


def read_shapes(path: StrPath) -> dict[str, Sequence[int]]:
    """Returns {name in the file: shape} of all entries of a checkpoint.

    Args:
        path: result of `find_checkpoint`.

    Raises:
        OSError: the checkpoint cannot be read.
    """
    return _checkpoint_of(path).read_shapes()


def _find_other_names(checkpoint: Checkpoint) -> Iterator[str]:
    """Yields the names of the entries that no pretraining trained."""
    return (
        name for name in checkpoint.shapes if not _PRETRAINED_NAME.search(name)
    )
