"""Loads an exported model to ask it, and writes its answers: see predict.py."""

import json
import os
import re
from collections.abc import Iterable
from typing import Any

import tensorflow as tf
from absl import logging

from serving.text_tasks import TASKS, TextTask, listed


def load(
    path: str,
    name: str | None = None,
    top_k: int = 5,
    tokens: bool = False,
) -> TextTask:
    """Loads an exported model to ask it.

    Args:
        path: folder of a SavedModel, or one with numbered versions of it, of
            which it takes the newest, as TensorFlow Serving does.
        name: the task; None for the first that it does.
        top_k: WordPieces for each mask.
        tokens: whether to embed each WordPiece too.

    Returns:
        a TextTask.

    Raises:
        FileNotFoundError: there is no SavedModel.
        ValueError: it does not do that task, or none.
    """
    model = tf.saved_model.load(_find_saved_model(path))
    kinds = {
        kind.name: kind for kind in TASKS if kind.signature in model.signatures
    }
    if not kinds:
        raise ValueError(
            f"--model={path} takes no text: its signatures are "
            f"{listed(model.signatures)}; export it with --vocab_file"
        )
    if name not in (None, *kinds):
        raise ValueError(
            f"--task={name}, but --model={path} does {listed(kinds)}"
        )
    return kinds[name or next(iter(kinds))](model, top_k, tokens)


def _find_saved_model(path: str) -> str:
    """Returns a folder that holds a SavedModel, or its newest version."""
    if _is_saved_model(path):
        return path
    versions = [
        name
        for name in (os.listdir(path) if os.path.isdir(path) else ())
        if re.fullmatch("[0-9]+", name)
        and _is_saved_model(os.path.join(path, name))
    ]
    if not versions:
        raise FileNotFoundError(
            f"--model={path} is not a SavedModel: it has no saved_model.pb and "
            "no numbered version; give a folder that --export_dir "
            "wrote"
        )
    newest = max(versions, key=int)
    logging.info("--model=%s: version %s is the newest", path, newest)
    return os.path.join(path, newest)


def _is_saved_model(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "saved_model.pb"))


def to_json_lines(answers: Iterable[dict[str, Any]]) -> bytes:
    """Returns dicts as JSON lines in UTF-8."""
    return b"".join(_to_json(answer) + b"\n" for answer in answers)


def _to_json(answer: dict[str, Any]) -> bytes:
    try:
        return json.dumps(answer, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair in an id; escaped, as it came.
        return json.dumps(answer).encode()
