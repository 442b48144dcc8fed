"""Exports models as SavedModels, and with formats.py in other formats."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from files import atomic, export_folders, manifests
from modeling.accelerated import inference
from modeling.checkpoints.huggingface.tokenizer import tokenizer_files
from modeling.checkpoints.staging import errors_named
from serving.export import formats
from training.config import ExportConfig

INPUT_NAMES = ("input_ids", "input_mask", "segment_ids")


def export_saved_model(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    endpoints: Mapping[str, tuple],
    files: Mapping[str, str] | None = None,
    options: ExportConfig | None = None,
    tokenizer: FullTokenizer | None = None,
    output_mode: str = "classification",
) -> None:
    """Exports a model in each format that `options` names.

    A SavedModel contains all endpoints. Each other format contains only the
    first endpoint. An earlier export in the folder is replaced when the new
    export is complete.

    Args:
        export_dir: folder to write. Missing parent folders are created.
        model: keras.Model whose variables are exported.
        endpoints: {signature name: (function, list of tf.TensorSpec)}. The
            first endpoint also becomes `serving_default`.
        files: {name: text} of additional files, such as the labels. If the only
            format is a SavedModel, all files except README.md are written to
            the folder `assets.extra`.
        options: ExportConfig, or None for a SavedModel.
        tokenizer: FullTokenizer of the model, or None. The tokenizer's files
            are written too, in the formats of this project and of other
            libraries.
        output_mode: for a classifier, "classification", "multilabel" or
            "regression".

    Raises:
        OSError: the export cannot be written. An earlier export does not
            change.
        ValueError: the folder contains files that are not an export (see
            export_folders.py), or the model has no weights yet.
    """
    if not model.built:
        raise ValueError(
            f"{model.name} has no weights yet; call build() or load a "
            f"checkpoint before you export the model to {export_dir}"
        )
    options = options or ExportConfig()
    names = options.export_formats
    with export_folders.create(Path(export_dir)) as folder:
        for name in names:
            if name == "saved_model":
                _write_saved_model(export_dir, folder, model, endpoints)
                continue
            formats.write(
                folder,
                model,
                name,
                next(iter(endpoints.values())),
                output_mode,
                options.export_seq_length,
                options.quantize == "int8",
            )
        extra = folder
        if names == ("saved_model",):
            extra = folder / "assets.extra"
            extra.mkdir(exist_ok=True)
        for name, text in (files or {}).items():
            place = folder if name == manifests.CARD else extra
            atomic.write_text(place / name, text)
        if tokenizer:
            longest = model.config.max_position_embeddings
            contents = tokenizer_files(tokenizer, longest)
            for name, content in contents.items():
                atomic.write_bytes(extra / name, content)


def _write_saved_model(
    export_dir: str | os.PathLike[str],
    folder: Path,
    model: keras.Model,
    endpoints: Mapping[str, tuple],
) -> None:
    archive = keras.export.ExportArchive()
    kernels = inference.CastKernels(model)
    # The archive finds the variables that the functions use. If it also tracked
    # the model, the variables would be stored and loaded twice
    # (https://github.com/keras-team/keras/issues/23553).
    for name, (function, signature) in endpoints.items():
        archive.add_endpoint(
            name,
            _trace(kernels.used_by(function), signature),
            input_signature=signature,
        )
    with errors_named(f"--export_dir={export_dir}"):
        archive.write_out(str(folder), verbose=False)


def _trace(
    function: Callable[..., Any], signature: list[tf.TensorSpec]
) -> Callable[..., Any]:
    """Traces a function, and returns a function that calls the trace.

    Keras and TensorFlow each trace the function that they export. In the
    returned function they trace only one call, not the network again.
    """
    traced = tf.function(
        function, signature, autograph=False
    ).get_concrete_function()
    return tf.function(lambda *inputs: traced(*inputs), autograph=False)
