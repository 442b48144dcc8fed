"""Loads object-based checkpoints of TensorFlow 2.

model_folders/formats/object_based/ reads these checkpoints.
"""

import dataclasses
from collections.abc import Mapping

from model_folders.formats.object_based.folders import open_object_entries
from model_folders.formats.weight_entries import WeightEntry
from modeling.checkpoints.formats.converted_checkpoint import (
    ConvertedCheckpoint,
)


@dataclasses.dataclass(frozen=True)
class ObjectBasedCheckpoint(ConvertedCheckpoint):
    """An object-based checkpoint. `file` is the prefix of its files."""

    def open_entries(self) -> Mapping[str, WeightEntry]:
        """Returns the entries, without reading their values."""
        return open_object_entries(self.file)
