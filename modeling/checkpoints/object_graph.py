"""Reads object-based checkpoints: Model Garden, TF-Hub, save_weights."""

from collections.abc import Mapping

from files.paths import StrPath
from modeling.checkpoints.sources import Entry


def find(path: StrPath) -> str | None:
    """Returns the file of the weights at a path, None for other formats."""
    return None


def open_entries(path: str) -> Mapping[str, Entry]:
    """Returns {Google's name: Entry} of the file that `find` returned."""
    raise NotImplementedError
