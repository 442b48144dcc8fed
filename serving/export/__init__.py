"""Writers of exports: SavedModels here, by Keras, and others in formats.py."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from files import atomic, export_folders
from modeling.accelerated import inference
from modeling.checkpoints.huggingface.tokenizer import write_tokenizer
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
    """Writes an export whole or not at all, replacing an earlier one.

    Of the endpoints, only a SavedModel has more than the first.

    Args:
        export_dir: folder to write; its parents are made.
        model: the keras.Model whose variables go with it.
        endpoints: {signature name: (function, list of tf.TensorSpec)}; the
            first also becomes `serving_default`.
        files: {name: text} of more files, such as the labels. If there is
            nothing but a SavedModel, they go into its `assets.extra`.
        options: ExportConfig, or None for a SavedModel.
        tokenizer: FullTokenizer of the model, whose files, for this project
            and other libraries, go beside them; or None.
        output_mode: of a classifier, as export_classifier takes it.

    Raises:
        OSError: it cannot be written; an earlier export is untouched.
        ValueError: the folder contains something else, see
            export_folders.py, or the model has no weights yet.
    """
    if not model.built:
        raise ValueError(
            f"{model.name} has no weights yet; call build(), or load a "
            f"checkpoint, before it is exported to {export_dir}"
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
            atomic.write_text(extra / name, text)
        if tokenizer:
            write_tokenizer(
                extra, tokenizer, model.config.max_position_embeddings
            )


def _write_saved_model(
    export_dir: str | os.PathLike[str],
    folder: Path,
    model: keras.Model,
    endpoints: Mapping[str, tuple],
) -> None:
    """Writes the SavedModel of an export into a folder."""
    archive = keras.export.ExportArchive()
    kernels = inference.CastKernels(model)
    # The archive finds the variables that the functions use. Those of a
    # model that it tracks would be stored, and loaded, a second time
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
    """Traces a function, and returns one that calls the result.

    Keras and TensorFlow each trace what they export; this way they only trace a
    call.
    """
    traced = tf.function(
        function, signature, autograph=False
    ).get_concrete_function()
    return tf.function(lambda *inputs: traced(*inputs), autograph=False)
