"""SavedModels for serving, by Keras's own export."""

import shutil
from pathlib import Path

import keras
import tensorflow as tf

INPUT_NAMES = ("input_ids", "input_mask", "segment_ids")


def check_export_dir(export_dir):
    """Refuses a folder that holds anything but an earlier export.

    Raises:
        ValueError: it does.
    """
    path = Path(export_dir)
    if path.exists() and not (path / "saved_model.pb").is_file():
        if any(path.iterdir()):
            raise ValueError(
                f"--export_dir={export_dir} exists and is not a SavedModel; "
                "give a new folder"
            )


def ids_signature():
    """Returns the specs of the original's inputs, int32 [batch, length]."""
    return [
        tf.TensorSpec([None, None], tf.int32, name=name) for name in INPUT_NAMES
    ]


def export_saved_model(export_dir, model, endpoints, files=()):
    """Writes a SavedModel whole or not at all, replacing an earlier one.

    Args:
        export_dir: folder to write; its parents are made.
        model: the keras.Model whose variables go with it.
        endpoints: {signature name: (function, list of tf.TensorSpec)}; the
            first also becomes `serving_default`.
        files: {name: path or text} put into its `assets.extra` folder, such as
            the vocabulary and the labels.
    """
    path = Path(export_dir)
    beside = path.with_name(path.name + ".unfinished")
    shutil.rmtree(beside, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        archive = keras.export.ExportArchive()
        archive.track(model)
        for name, (function, signature) in endpoints.items():
            # Keras and TensorFlow trace it four times; let them find it done.
            function = tf.function(function, autograph=False)
            archive.add_endpoint(name, function, input_signature=signature)
        archive.write_out(str(beside), verbose=False)
        extra = beside / "assets.extra"
        extra.mkdir(exist_ok=True)
        for name, source in dict(files).items():
            if isinstance(source, Path):
                shutil.copyfile(source, extra / name)
            else:
                (extra / name).write_text(source, encoding="utf-8")
        if path.exists():
            shutil.rmtree(path)
        beside.rename(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
