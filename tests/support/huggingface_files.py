"""Writes folders in Hugging Face's format, like the recorded ones."""

import json

import safetensors.numpy

from tests.support.golden import ROOT

RECORDED = ROOT / "tests/testdata/huggingface"
CONFIG = json.loads((RECORDED / "BertModel/config.json").read_text())
V, W, POSITIONS = (
    CONFIG[name]
    for name in ("vocab_size", "hidden_size", "max_position_embeddings")
)


def write(folder, tensors, **changes):
    safetensors.numpy.save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes}))
    return folder
