"""Loads a checkpoint of any format into a model, with its head or without.

finding.py opens the checkpoint, and head_comparison.py says if the model can
use the head in it.
"""

import re
from collections.abc import Sequence

import keras
from absl import logging

from model_folders.bert_config import BertConfig
from model_folders.checkpoint_folders import RunStep
from model_folders.formats.shape_checks import check_initial_blocks
from model_folders.labels import find_order
from model_folders.reading.preset import PathOrPreset, Preset, read_preset
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.finding import open_checkpoint
from modeling.checkpoints.head_comparison import list_new_head
from modeling.checkpoints.variables import LoadReport, google_name_of

# Matches Google's and Hugging Face's names of the weights of a block.
_BLOCK_NAME = re.compile(r"bert[/.]encoder[/.]layer[_.]")


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
        new_head = list_new_head(model, checkpoint, label_alternatives)
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
