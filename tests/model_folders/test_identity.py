"""TODO."""

import json

import pytest

from model_folders import identity, presets
from tests.support.models import tiny_config


def test_a_recorded_network_without_sizes_names_the_file(tmp_path):
    origin = {"settings": {"bert_config": {"hidden_size": 4}}}
    file = tmp_path / "model.json"
    file.write_text(json.dumps({"version": 1, "origin": origin}))
    with pytest.raises(ValueError, match=f"^{file}: .*`vocab_size`$"):
        identity.check_identity(presets.read_preset(tmp_path), tiny_config())
