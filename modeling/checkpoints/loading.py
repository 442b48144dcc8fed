"""Finds checkpoints of any format, and loads them into models.

`open_checkpoint` chooses the class that loads a format. A fine-tuned model is a
good start for another task, or for other labels of the same task, but its head
is not, because the head computes other outputs. So `load_checkpoint` can
compare the head of the model with the head in the folder.
"""

import os
import re
from collections.abc import Sequence

import keras
from absl import logging

from files.paths import StrPath
from model_folders import kinds
from model_folders.bert_config import BertConfig
from model_folders.checkpoint_folders import RunStep, find_tf1_checkpoint
from model_folders.formats.huggingface_weights import find_huggingface
from model_folders.formats.shape_checks import (
    check_initial_blocks,
    find_num_outputs,
)
from model_folders.labels import describe_labels, find_order
from model_folders.reading.preset import PathOrPreset, Preset, read_preset
from modeling.checkpoints.checkpoint import (
    CONVERTED_FORMATS,
    Checkpoint,
    ConvertedCheckpoint,
)
from modeling.checkpoints.huggingface_checkpoint import HuggingFaceCheckpoint
from modeling.checkpoints.variables import LoadReport, google_name_of

# Matches Google's and Hugging Face's names of the weights of a block.
_BLOCK_NAME = re.compile(r"bert[/.]encoder[/.]layer[_.]")
# Matches the names of the weights that are no part of a fine-tuned head.
_NOT_HEAD = re.compile(r"bert/|cls/(?:predictions|seq_relationship)/")


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
    needs_preset = bool(label_alternatives) or replaces_head
    if needs_preset and not isinstance(path_or_preset, Preset):
        path_or_preset = read_preset(path_or_preset)
    return load_open_checkpoint(
        model,
        open_checkpoint(path_or_preset, run_step),
        initial_blocks=initial_blocks,
        label_alternatives=label_alternatives,
        replaces_head=replaces_head,
    )


def load_open_checkpoint(
    model: keras.Model,
    checkpoint: Checkpoint,
    *,
    initial_blocks: Sequence[int] | None = None,
    label_alternatives: Sequence[Sequence[str]] = (),
    replaces_head: bool = False,
) -> LoadReport:
    """Loads the result of `open_checkpoint` into a model, as `load_checkpoint`.

    With `label_alternatives` or `replaces_head`, the checkpoint must have been
    opened by a Preset.
    """
    new_head: Sequence[str] = ()
    if replaces_head:
        new_head = _list_new_head(model, checkpoint, label_alternatives)
    report = checkpoint.load(model, initial_blocks, new_head)
    if initial_blocks is None and any(map(_BLOCK_NAME.match, report.unused)):
        logging.warning(
            "%s contains more blocks than num_hidden_layers. Outputs will be "
            "wrong unless the model is trained.",
            report.path,
        )
    if label_alternatives:
        _reorder_outputs(model, checkpoint.preset, label_alternatives, report)
    return report


def _list_new_head(
    model: keras.Model,
    checkpoint: Checkpoint,
    label_alternatives: Sequence[Sequence[str]],
) -> list[str]:
    """Returns the names of the head's weights, if the head must start anew.

    Returns [] if the model can use the head in the folder, or has no head.
    Otherwise logs why the model cannot use that head.
    """
    if not model.built:
        model.build()
    head = _head_weight_names(model)
    if not head:
        return []
    # Check the files first, so that a damaged file is an error before anyone
    # logs something about its head.
    checkpoint.check_sizes(config=None)
    reason = _describe_other_head(model, checkpoint, label_alternatives)
    if reason is None:
        return []
    logging.warning(
        "%s. The head starts at random values: %s.", reason, ", ".join(head)
    )
    return head


def _head_weight_names(model: keras.Model) -> list[str]:
    """Returns Google's names of the weights of a model's head.

    The names include the LSTM of --bilstm, which is trained with the head. The
    pooler belongs to the encoder.
    """
    names = map(google_name_of, model.weights)
    return [name for name in names if not _NOT_HEAD.match(name)]


def _describe_other_head(
    model: keras.Model,
    checkpoint: Checkpoint,
    label_alternatives: Sequence[Sequence[str]] = (),
) -> str | None:
    """Returns why a model cannot use the head in a folder, None if it can.

    If the folder names neither its head nor its labels, only the number of
    outputs tells two heads apart.

    Args:
        model: a built model.
        checkpoint: the folder's checkpoint.
        label_alternatives: alternative names of the model's outputs, as in
            `load_checkpoint`.
    """
    preset = checkpoint.preset
    source = preset.source
    model_class = kinds.model_class_of(model)
    if _is_of_other_task(model, preset.model_class):
        return (
            f"{source} contains a {preset.model_class}, but the model is a "
            f"{model_class}"
        )
    if label_alternatives and preset.labels:
        if find_order(preset.labels, label_alternatives):
            return None
        return (
            f"{source} was trained with the labels "
            f"{describe_labels(preset.labels)}; the task has "
            f"{describe_labels(label_alternatives[0])}"
        )
    num_stored = find_num_outputs(checkpoint.shapes)
    biases = (
        weight
        for weight in model.weights
        if google_name_of(weight) == "output_bias"
    )
    num_outputs = next((bias.shape[0] for bias in biases), num_stored)
    if num_stored in (None, num_outputs):
        return None
    return f"{source} has {num_stored} outputs, but the model has {num_outputs}"


def _is_of_other_task(model: keras.Model, model_class: str | None) -> bool:
    """Returns whether a head of this class is bound to another task."""
    names = [base.__name__ for base in type(model).__mro__]
    # A user's own subclass has the head of the class that it extends.
    own_class = next(
        (name for name in names if name in kinds.KIND_OF_CLASS), names[0]
    )
    are_specific = all(map(kinds.is_task_specific, (model_class, own_class)))
    return are_specific and model_class not in (names[0], own_class)


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


def open_checkpoint(
    path_or_preset: PathOrPreset, run_step: RunStep = "reported"
) -> Checkpoint:
    """Returns the checkpoint that a path names or contains.

    Reads no values. The function chooses the first format whose files exist.
    Checkpoints of TensorFlow 1 come last.

    Args:
        path_or_preset: path of the checkpoint, path of the folder that contains
            it, or the folder's Preset. For a path, the function does not read
            the other files of the folder (`Checkpoint.preset`).
        run_step: "best" or "last", to load this step if the path is the folder
            of a training run. By default the step that the run reports.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: a file of the checkpoint cannot be read.
        ValueError: the path contains an adapter, or weights of a library that
            is not read, or `run_step` is not a RunStep.
    """
    if isinstance(path_or_preset, Preset):
        preset = path_or_preset
        model_json = preset.model_json
    else:
        path = os.fspath(path_or_preset)
        # To load weights, no other file of the folder is needed.
        preset = Preset(path=path, weights_path=path)
        model_json = None
    path = preset.weights_path
    if file := find_huggingface(path):
        return HuggingFaceCheckpoint(file, preset)
    for converted_format in CONVERTED_FORMATS:
        if file := converted_format.find(path):
            return ConvertedCheckpoint(file, preset, converted_format)

    prefix = find_tf1_checkpoint(path, run_step, model_json)
    # Import after a checkpoint is found, because only this format needs
    # TensorFlow, which other backends of Keras lack.
    from modeling.checkpoints.tf1_checkpoint import Tf1Checkpoint

    return Tf1Checkpoint(prefix, preset)


def find_checkpoint(
    path_or_preset: PathOrPreset,
    *,
    run_step: RunStep = "reported",
    config: BertConfig | None = None,
    initial_blocks: Sequence[int] | None = None,
) -> str:
    """Returns the file, or the prefix of the files, of a checkpoint.

    Checks the sizes of the checkpoint's files, not the values in them.

    Args:
        path_or_preset: path of a checkpoint or its folder, or a Preset.
        run_step: the step to choose in the folder of a run.
        config: configuration of the model that will load the checkpoint, to
            compare its sizes before the model is created. If None, the function
            does not compare them.
        initial_blocks: the stored block from which each block starts.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: a file of the checkpoint is missing, truncated or malformed.
        ValueError: the path contains an adapter, or lacks the encoder of
            `config`, or `run_step` is not a RunStep.
    """
    checkpoint = open_checkpoint(path_or_preset, run_step)
    checkpoint.check_sizes(config, initial_blocks)
    return checkpoint.file


def check_checkpoint(
    path_or_preset: PathOrPreset,
    config: BertConfig | None = None,
    initial_blocks: Sequence[int] | None = None,
) -> None:
    """Checks that there is a checkpoint, and the sizes of its files.

    Args:
        path_or_preset: path of a checkpoint or its folder, or a Preset.
        config: configuration to compare, None to check only the files.
        initial_blocks: the stored block from which each block starts.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: a file of the checkpoint is missing, truncated or malformed.
        ValueError: the checkpoint does not fit `config`, lacks the encoder, or
            is an adapter.
    """
    find_checkpoint(
        path_or_preset, config=config, initial_blocks=initial_blocks
    )


def read_shapes(path: StrPath) -> dict[str, Sequence[int]]:
    """Returns {name in the file: shape} of all entries of a checkpoint.

    Args:
        path: result of `find_checkpoint`.

    Raises:
        OSError: the checkpoint cannot be read.
    """
    return open_checkpoint(path).read_shapes()
