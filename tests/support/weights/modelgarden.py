"""Recorded checkpoints of Model Garden, and the outputs of their library."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import modeling
from tests.support.paths import ROOT
from tests.support.weights.object_checkpoints import ObjectCheckpoint

WEIGHTS = ROOT / "tests/testdata/weights/modelgarden"


def checkpoint_prefix(folder: Path) -> Path:
    """Returns the prefix of the files of a checkpoint or SavedModel."""
    if (folder / "variables").is_dir():
        return folder / "variables/variables"
    return folder / "bert_model.ckpt-1"


@contextlib.contextmanager
def changed_checkpoint(folder: Path) -> Iterator[ObjectCheckpoint]:
    """Reads a checkpoint, lets a test change it, and writes it again."""
    prefix = checkpoint_prefix(folder)
    checkpoint = ObjectCheckpoint.read(prefix)
    yield checkpoint
    checkpoint.write(prefix)


def load_features() -> dict[str, np.ndarray]:
    """Returns the features of which the outputs are recorded."""
    arrays = np.load(WEIGHTS / "in.npz")
    return {
        "input_ids": arrays["ids"],
        "input_mask": arrays["mask"],
        "segment_ids": arrays["seg"],
        "masked_lm_positions": np.tile([[1, 3, 5]], (4, 1)),
    }


def assert_outputs_recorded(folder: Path, recorded: str) -> None:
    """Asserts that a model computes the outputs that its library computed."""
    expected = np.load(WEIGHTS / recorded)
    features = load_features()
    pretrainer = modeling.BertPretrainer.from_preset(folder)
    masked_lm_logits = pretrainer(features)["masked_lm_logits"]
    # Only a pretrainer reads the positions.
    del features["masked_lm_positions"]
    encoded = modeling.BertModel.from_preset(folder)(features)
    blocks = encoded["all_encoder_layers"]
    outputs = {
        "seq": encoded["sequence_output"],
        "pool": encoded["pooled_output"],
        "mlm": masked_lm_logits,
        **{f"enc{index}": block for index, block in enumerate(blocks)},
    }
    assert outputs.keys() == {*expected} - {"nsp"}
    for name, value in outputs.items():
        np.testing.assert_allclose(value, expected[name], atol=1e-5)
