"""Fixtures that the recipes' tests share."""

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
