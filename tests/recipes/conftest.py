"""A released model and a small BERT's files, for the recipes' tests."""

import json

import pytest

import modeling
from tests import script_runner
from tests.conftest import TINY


@pytest.fixture
def model(tmp_path):
    """A folder laid out as a released model."""
    config = modeling.BertConfig.from_dict(
        TINY | {"max_position_embeddings": 128}
    )
    created = modeling.BertPretrainer(config, seed=1)
    created.build()
    folder = tmp_path / "released"
    modeling.save_release(created, folder, script_runner.SAMPLES / "vocab.txt")
    return folder


def write_small_bert(folder):
    """Writes what the recipes read of a small BERT, not the model."""
    phase = {"max_seq_length": 32, "masked_lm_prob": 0.4}
    manifest = {"flags": {"max_predictions_per_seq": 13}}
    for name, content in (
        ("settings.json", {"phases": [phase]}),
        ("records_32.manifest.json", manifest),
        ("bert_config.json", {"num_hidden_layers": 3}),
    ):
        (folder / name).write_text(json.dumps(content))
    (folder / "vocab.txt").write_text("[PAD]\n")
