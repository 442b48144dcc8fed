"""What a Checkpoint does for its subclasses."""

import dataclasses

from model_folders.reading.preset import Preset
from modeling.checkpoints.checkpoint import Checkpoint


@dataclasses.dataclass(frozen=True)
class CountingCheckpoint(Checkpoint):
    """A checkpoint that counts how often its shapes are read."""

    reads: list[str] = dataclasses.field(default_factory=list)

    def read_shapes(self):
        self.reads.append(self.file)
        return {"bert/pooler/dense/bias": (4,)}

    def open_entries(self, model, names):
        raise NotImplementedError


def test_the_shapes_of_a_file_are_read_once():
    checkpoint = CountingCheckpoint("model.ckpt", Preset(""))
    assert checkpoint.shapes == {"bert/pooler/dense/bias": (4,)}
    assert checkpoint.shapes is checkpoint.shapes
    assert checkpoint.reads == ["model.ckpt"]


def test_names_of_a_format_are_those_of_google_by_default():
    checkpoint = CountingCheckpoint("model.ckpt", Preset(""))
    assert checkpoint.read_google_shapes() == checkpoint.shapes
