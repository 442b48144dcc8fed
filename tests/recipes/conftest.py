"""A released model, for the recipes' tests."""

import pytest

import modeling
from data.text.tokenization import FullTokenizer
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
    tokenizer = FullTokenizer(script_runner.SAMPLES / "vocab.txt")
    modeling.save_release(created, folder, tokenizer)
    return folder
