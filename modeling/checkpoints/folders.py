"""Finds the checkpoint to use in a folder."""

import contextlib
import os
import re
from typing import Any

from absl import logging

from files.paths import StrPath, is_remote
from modeling.presets import best_step_of
from modeling.steps import BEST, PREFIX, checkpoint_steps

_FILE_OF_A_CHECKPOINT = re.compile(
    r"\.(?:index|meta|data-\d{5}-of-\d{5}|tempstate\d+)$"
)


def find_tf1_checkpoint(path: StrPath, best: bool = True) -> str:
    """Returns the prefix of the checkpoint that `path` names or contains.

    In the folder of a training run, this is the best step, which model.json
    names, else the last step. In any other folder, it is the newest checkpoint
    that the file named `checkpoint` lists, else the only checkpoint in the
    folder. If the file `checkpoint` lists a path outside of its folder, the
    function looks for the same name in the folder, because the folder may have
    been moved.

    Args:
        path: prefix of a checkpoint, or a folder.
        best: whether to prefer the best step of a run (flag --load_best).

    Raises:
        FileNotFoundError: the checkpoint does not exist.
        ValueError: `path` is one file of a checkpoint.
    """
    path = str(path)
    system = file_system(path)
    if _FILE_OF_A_CHECKPOINT.search(path):
        raise ValueError(
            f"{path} is one file of a checkpoint. Use the prefix of its files, "
            f"{_FILE_OF_A_CHECKPOINT.sub('', path)}"
        )
    if system.isdir(path):
        return (find_best(path) if best else None) or _find_newest(path)
    if not system.exists(path + ".index"):
        raise FileNotFoundError(
            f"There is no checkpoint {path}: the file {path}.index does not "
            "exist. Use the path of local files, or hf://OWNER/NAME"
        )
    return path


def find_best(folder: StrPath) -> str | None:
    """Returns the checkpoint of a run's best step, or None if it has none.

    A run that was killed may have saved its best step, but no later checkpoint.
    The best step is then None, because the run repeats it.

    Args:
        folder: folder of the run.
    """
    step, newest = best_step_of(folder), _newest_step(str(folder))
    if step is None or 0 <= newest < step:
        return None
    for place in (os.path.join(folder, BEST), str(folder)):
        prefix = os.path.join(place, f"{PREFIX}-{step}")
        if os.path.isfile(f"{prefix}.index"):
            return prefix
    logging.warning(
        "The run's best step, %d, is missing in %s; using the last step.",
        *(step, folder),
    )
    return None


def _newest_step(folder: str) -> int:
    """Returns the newest step of a folder's checkpoints, -1 without any."""
    system = file_system(folder)
    names = system.listdir(folder) if system.isdir(folder) else []
    return max(checkpoint_steps(names), default=-1)


def _find_newest(path: str) -> str:
    # TensorFlow loads slowly, and --help finds checkpoints too.
    import tensorflow as tf

    gfile = tf.io.gfile
    # Do not use tf.train.latest_checkpoint, which reads `path` as a pattern.
    state = None
    # Ignore the file named `checkpoint` if it is empty or not UTF-8.
    with contextlib.suppress(ValueError):
        state = tf.train.get_checkpoint_state(path)
    if state:
        recorded = state.model_checkpoint_path
        # The recorded path may be in a subfolder, and may contain Windows's
        # path separators.
        places = [os.path.join(path, re.split(r"[/\\]", recorded)[-1])]
        if recorded.startswith(os.path.join(path, "")):
            places.insert(0, recorded)
        for newest in places:
            if gfile.exists(f"{newest}.index"):
                return newest
    indexes = sorted(
        os.path.join(path, name)
        for name in gfile.listdir(path)
        # Skip the files ._NAME that macOS creates beside each file.
        if name.endswith(".index") and not name.startswith(".")
    )
    if len(indexes) != 1:
        names = ", ".join(index.removesuffix(".index") for index in indexes)
        there = ", ".join(sorted(gfile.listdir(path))[:5])
        names = (
            f"{names}; use the path of one of them"
            if names
            else f"{there or 'no files'}; weights are read from NAME.index "
            "with NAME.data-*, model.safetensors or pytorch_model.bin"
        )
        raise FileNotFoundError(
            f"The folder {path} must contain exactly one checkpoint. Found: "
            f"{names}"
        )
    return indexes[0].removesuffix(".index")


def describe(prefix: str) -> str:
    """Returns a description of a checkpoint such as "step 100, the best".

    Returns "" if the checkpoint's name shows that no training run wrote it.
    """
    folder, name = os.path.split(prefix)
    steps = checkpoint_steps([f"{name}.index"])
    if not steps:
        return ""
    is_best = os.path.basename(folder) == BEST
    return f"step {steps[0]}, the {'best' if is_best else 'last'}"


def file_system(path: StrPath) -> Any:
    """Returns tf.io.gfile for a remote path, `_Local` for a local path."""
    if not is_remote(path):
        return _Local
    # Only remote files need TensorFlow, which loads slowly.
    from tensorflow.io import gfile

    return gfile


class _Local:
    """Functions of tf.io.gfile for local paths, without TensorFlow."""

    exists, isdir = staticmethod(os.path.exists), staticmethod(os.path.isdir)
    listdir = staticmethod(os.listdir)
