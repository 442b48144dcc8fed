"""SavedModels for serving, by Keras's own export.

An export replaces only what an earlier one wrote: each lists its own files,
and a folder with anything else in it is left alone.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from data.text.tokenization import FullTokenizer
from files import atomic, manifests
from modeling.accelerated import inference, int8
from training.config import ExportConfig
from training.outputs import export_formats

INPUT_NAMES = ("input_ids", "input_mask", "segment_ids")


def check_export_dir(export_dir: str | os.PathLike[str]) -> None:
    """Refuses a folder that holds anything but an earlier export.

    Raises:
        ValueError: it does, or another file has the name of a temporary folder.
    """
    path = Path(export_dir)
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise ValueError(f"--export_dir={path} is not a folder; give a new one")
    if path.is_dir() and any(path.iterdir()):
        _check_is_export(path)
    for temporary in (_unfinished(path), _replaced(path)):
        if os.path.lexists(temporary) and not _may_remove(temporary):
            raise ValueError(
                f"--export_dir={path} needs the temporary name {temporary}, "
                "which is in the way and was not made by an export; rename it"
            )


def _check_is_export(path: Path) -> None:
    if not _is_ours(path):
        raise ValueError(
            f"--export_dir={path} exists and is not an export that can be "
            f"replaced, which has a {manifests.EXPORT}; remove it, or give a "
            "new folder"
        )
    listed = manifests.listed(path, manifests.EXPORT)
    for name in _contents(path):
        if name not in listed:
            raise ValueError(
                f"--export_dir={path} holds {name}, which is not a part of "
                "the export there; move it away, or give a new folder"
            )


def _is_ours(path: Path) -> bool:
    return (path / manifests.EXPORT).is_file() and not path.is_symlink()


def _may_remove(path: Path) -> bool:
    """Returns whether a folder was left by a killed process."""
    if path.is_symlink() or not path.is_dir():
        return False
    if not any(path.iterdir()):
        return True
    if not _is_ours(path):
        return False
    listed = manifests.listed(path, manifests.EXPORT)
    # Nothing is listed while the export is written.
    return listed == [] or all(name in listed for name in _contents(path))


def _remove(path: Path) -> None:
    """Removes one of our folders, its manifest last, in case of a kill."""
    if not path.exists():
        return
    for file in path.iterdir():
        if file.is_dir():
            shutil.rmtree(file)
        elif file.name != manifests.EXPORT:
            file.unlink()
    shutil.rmtree(path)


def _contents(path: Path) -> list[str]:
    """Returns the paths of all files and folders in a folder, sorted."""
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*"))


def _unfinished(path: Path) -> Path:
    return path.with_name(path.name + ".unfinished")


def _replaced(path: Path) -> Path:
    return path.with_name(path.name + ".replaced")


def export_saved_model(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    endpoints: Mapping[str, tuple],
    files: Mapping[str, str] | None = None,
    options: ExportConfig | None = None,
    tokenizer: FullTokenizer | None = None,
) -> None:
    """Writes a SavedModel whole or not at all, replacing an earlier one.

    In another format it writes the first endpoint alone, and all files next
    to it.

    Args:
        export_dir: folder to write; its parents are made.
        model: the keras.Model whose variables go with it.
        endpoints: {signature name: (function, list of tf.TensorSpec)}; the
            first also becomes `serving_default`.
        files: {name: text} put into its `assets.extra` folder, such as the
            labels.
        options: ExportConfig; None for a SavedModel.
        tokenizer: FullTokenizer whose vocabulary becomes the file vocab.txt
            beside them, or None.

    Raises:
        OSError: it cannot be written; an earlier export is untouched.
        ValueError: the folder holds something else (see `check_export_dir`), or
            the model has no weights yet.
    """
    if not model.built:
        raise ValueError(
            f"{model.name} has no weights yet; call build(), or load a "
            f"checkpoint, before it is exported to {export_dir}"
        )
    options = options or ExportConfig()
    with _new_export(Path(export_dir)) as folder:
        if options.export_format == "saved_model":
            _write_saved_model(export_dir, folder, model, endpoints)
            extra = folder / "assets.extra"
            extra.mkdir(exist_ok=True)
        else:
            extra = folder
            function, signature = next(iter(endpoints.values()))
            export_formats.write(folder, model, function, signature, options)
        for name, text in (files or {}).items():
            atomic.write_text(extra / name, text)
        if tokenizer and extra is folder:
            export_formats.write_files(folder, model, tokenizer)
        elif tokenizer:
            atomic.write_bytes(extra / "vocab.txt", tokenizer.vocab_bytes)


def _write_saved_model(
    export_dir: str | os.PathLike[str],
    folder: Path,
    model: keras.Model,
    endpoints: Mapping[str, tuple],
) -> None:
    """Writes the SavedModel of an export into a folder; see above."""
    archive = keras.export.ExportArchive()
    kernels = inference.CastKernels(model)
    with int8.constant_weights():
        # The archive finds the variables that the functions use. Those of a
        # model that it tracks would be stored, and loaded, a second time
        # (https://github.com/keras-team/keras/issues/23553).
        for name, (function, signature) in endpoints.items():
            archive.add_endpoint(
                name,
                _trace(kernels.used_by(function), signature),
                input_signature=signature,
            )
        try:
            archive.write_out(str(folder), verbose=False)
        except (
            # Raised by a file size limit and by a full disk.
            tf.errors.OutOfRangeError,
            tf.errors.ResourceExhaustedError,
        ) as error:
            raise OSError(
                f"--export_dir={export_dir} cannot be written: {error.message}"
            ) from error


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


@contextlib.contextmanager
def _new_export(path: Path) -> Iterator[Path]:
    """Yields a folder that becomes the export if the block succeeds."""
    unfinished, replaced = _unfinished(path), _replaced(path)
    check_export_dir(path)
    if replaced.exists() and not path.exists():
        # A process was killed between the two renames below.
        replaced.rename(path)
    for left_behind in (unfinished, replaced):
        _remove(left_behind)
    unfinished.mkdir(parents=True)
    try:
        # Also marks what a killed process leaves as ours.
        manifests.write(unfinished, manifests.EXPORT, [])
        yield unfinished
        manifests.write(unfinished, manifests.EXPORT, _contents(unfinished))
        # Files that appeared since the work began.
        check_export_dir(path)
        if path.exists():
            path.rename(replaced)
        unfinished.rename(path)
        _remove(replaced)
    finally:
        _remove(unfinished)
