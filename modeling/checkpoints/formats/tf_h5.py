"""Loads the weights of TensorFlow that transformers 4 wrote.

model_folders/formats/tf_h5.py reads these files.
"""

import dataclasses
from collections.abc import Mapping

from model_folders.formats.tf_h5 import open_tf_h5_entries
from model_folders.formats.weight_entries import WeightEntry
from modeling.checkpoints.formats.converted_checkpoint import (
    ConvertedCheckpoint,
)


@dataclasses.dataclass(frozen=True)
class TfH5Checkpoint(ConvertedCheckpoint):
    """A tf_model.h5, or the index of several such files."""

    def open_entries(self) -> Mapping[str, WeightEntry]:
        """Returns the entries, without reading their values."""
        return open_tf_h5_entries(self.file)
