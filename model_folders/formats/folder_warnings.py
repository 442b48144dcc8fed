"""Logs what is odd in a folder that a command may read several times."""

import functools

from absl import logging


@functools.cache
def warn_once(message: str) -> None:
    """Logs a warning, unless this process has logged it."""
    logging.warning("%s", message)
