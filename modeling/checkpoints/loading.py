"""Loads checkpoints of any format into models, with the head that fits."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import keras
from absl import logging

from model_folders.formats.shape_checks import check_layers
from model_folders.labels import find_order
from model_folders.reading import preset_reading
from model_folders.reading.presets import Preset
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.finding import Source, check_files, open_checkpoint
from modeling.checkpoints.new_heads import (
    describe_other_outputs,
    head_weight_names,
)
from modeling.checkpoints.restore import LoadReport
from modeling.checkpoints.variable_names import google_name_of

if TYPE_CHECKING:
    from modeling.keras_fit import KerasFitModel

# Matches Google's and Hugging Face's names of the weights of a block.
_BLOCK_NAME = re.compile(r"bert[/.]encoder[/.]layer[_.]")


def load_checkpoint(
    model: "KerasFitModel",
    path: Source,
    *,
    layers: Sequence[int] | None = None,
    output_names: Sequence[Sequence[str]] = (),
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
        output_names: lists of names of the model's outputs, in order, such as
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
    if layers is not None:
        check_layers(model.config, layers)
    preset = None
    if isinstance(path, Preset):
        preset = path
    elif output_names or replaces_head:
        preset = preset_reading.read_preset(path)
    checkpoint = open_checkpoint(preset or path, best=best)
    return load_weights(
        model,
        checkpoint,
        preset,
        layers=layers,
        output_names=output_names,
        replaces_head=replaces_head,
    )


def load_weights(
    model: "KerasFitModel",
    checkpoint: Checkpoint,
    preset: Preset | None,
    *,
    layers: Sequence[int] | None = None,
    output_names: Sequence[Sequence[str]] = (),
    replaces_head: bool = False,
) -> LoadReport:
    """Loads a checkpoint that was found, as `load_checkpoint` does.

    Args:
        model: any model of this package, built or not.
        checkpoint: result of `open_checkpoint`.
        preset: Preset of the checkpoint's folder. It may be None without
            `output_names` and without `replaces_head`.
        layers: as in `load_checkpoint`.
        output_names: as in `load_checkpoint`.
        replaces_head: as in `load_checkpoint`.

    Raises:
        OSError, ValueError: as `load_checkpoint` raises them.
    """
    new_head: Sequence[str] = ()
    if preset and replaces_head:
        reason = _describe_other_head(model, checkpoint, preset, output_names)
        if reason:
            new_head = head_weight_names(model)
            logging.warning(
                "%s. The head starts at random values: %s.",
                reason,
                ", ".join(new_head),
            )
    report = checkpoint.load(model, layers, new_head)
    if layers is None and any(map(_BLOCK_NAME.match, report.unused)):
        logging.warning(
            "%s contains more blocks than num_hidden_layers. Outputs will be "
            "wrong unless the model is trained.",
            report.path,
        )
    if preset and output_names:
        _reorder_outputs(model, preset, output_names, report)
    return report


def _describe_other_head(
    model: "KerasFitModel",
    checkpoint: Checkpoint,
    preset: Preset,
    output_names: Sequence[Sequence[str]],
) -> str | None:
    """Returns why the model cannot use the folder's head.

    Returns None if it can, or if the model has no head. Builds the model.
    """
    if not model.built:
        model.build()
    if not head_weight_names(model):
        return None
    # Check the files first, so that a damaged file is an error before the log
    # says anything about its head.
    check_files(checkpoint, preset, config=None)
    return describe_other_outputs(
        model, preset, checkpoint.shapes, output_names
    )


def _reorder_outputs(
    model: "KerasFitModel",
    preset: Preset,
    output_names: Sequence[Sequence[str]],
    report: LoadReport,
) -> None:
    """Puts the loaded outputs into the order of a list in `output_names`.

    Does nothing unless the folder lists the names of one of these lists in
    another order.
    """
    order = find_order(preset.labels or (), output_names)
    if not order or order == sorted(order):
        return
    names = ", ".join(output_names[0])
    logging.info("%s: reordered the outputs to %s", preset.weights_path, names)
    for variable in model.weights:
        name = google_name_of(variable)
        if name in {"output_weights", "output_bias"} & {*report.loaded}:
            variable.assign(keras.ops.take(variable, order, axis=0))
