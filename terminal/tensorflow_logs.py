"""Keeps the logs of TensorFlow out of the output of scripts."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator

from imports.import_hooks import surround_import


def silence_tensorflow() -> None:
    """Silences the logs of TensorFlow, XLA and CUDA, but not their exceptions.

    Call this function before TensorFlow is imported.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    if "tensorflow" not in sys.modules:
        # TensorFlow's native code logs while it loads, before it reads any
        # setting.
        surround_import("tensorflow", _silent_stderr)


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    sys.stderr.flush()
    stderr = os.dup(2)
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(null_device)
