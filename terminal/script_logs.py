"""Logs in this project's format, without minor records of other libraries."""

import logging as std_logging
from pathlib import Path

from absl import logging

LOG_FORMAT = "%(asctime)s %(levelname).1s %(message)s"
# If the project is installed, this is the folder of all packages.
PROJECT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "command_line",
    "conversion",
    "data",
    "extraction",
    "files",
    "imports",
    "model_folders",
    "modeling",
    "serving",
    "terminal",
    "tools",
    "training",
)


def install_log_handler() -> None:
    """Logs through absl's handler, such as "12:34:56 I Step 10"."""
    logging.use_absl_handler()
    handler = logging.get_absl_handler()
    handler.setFormatter(std_logging.Formatter(LOG_FORMAT, "%H:%M:%S"))
    handler.addFilter(is_ours_or_urgent)


def is_ours_or_urgent(record: std_logging.LogRecord) -> bool:
    """Returns whether to log a record, which may be of another library.

    Keras and TensorFlow log through absl too. Of their records, only warnings
    and errors are logged.
    """
    path = Path(record.pathname).resolve()
    is_ours = path.parent == PROJECT or any(
        PROJECT / package in path.parents for package in PACKAGES
    )
    return is_ours or record.levelno >= std_logging.WARNING
