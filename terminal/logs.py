"""Sets up the log of a script: its own lines, and few of other libraries.

Logs have this project's format. Of the records of other libraries, the log
shows warnings and errors, and of TensorFlow only exceptions.
"""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from absl import logging as absl_logging

from dependencies.import_hooks import surround_import

LOG_FORMAT = "%(asctime)s %(levelname).1s %(message)s"
# If the project is installed, this is the folder of all packages.
PROJECT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "command_line",
    "data",
    "dependencies",
    "exporting",
    "files",
    "model_folders",
    "modeling",
    "options",
    "serving",
    "terminal",
    "tools",
    "training",
)


def install_log_handler() -> None:
    """Logs through absl's handler, such as "12:34:56 I Step 10"."""
    absl_logging.use_absl_handler()
    handler = absl_logging.get_absl_handler()
    handler.setFormatter(logging.Formatter(LOG_FORMAT, "%H:%M:%S"))
    handler.addFilter(is_ours_or_urgent)


def is_ours_or_urgent(record: logging.LogRecord) -> bool:
    """Returns whether to log a record, which may be of another library.

    Keras and TensorFlow log through absl too. Of their records, only warnings
    and errors are logged.
    """
    path = Path(record.pathname).resolve()
    is_ours = path.parent == PROJECT or any(
        PROJECT / package in path.parents for package in PACKAGES
    )
    return is_ours or record.levelno >= logging.WARNING


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
