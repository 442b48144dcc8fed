"""The flags of a command that runs a model, and what they decide."""

import json

import pytest

from tests.support.tasks.toy_task import create_config
from training.config.model_config import ModelOptions


@pytest.mark.parametrize(("index", "locks"), [(0, True), (1, False)])
def test_only_the_chief_of_a_cluster_locks_the_outputs(
    monkeypatch, index, locks
):
    cluster = {"worker": ["a", "b"]}
    task = {"type": "worker", "index": index}
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({"cluster": cluster, "task": task})
    )
    assert create_config("run").locks_outputs == locks


def test_a_required_file_is_the_value_of_its_flag():
    model_options = ModelOptions(
        bert_config_file="config.json", vocab_file="vocab.txt"
    )
    assert model_options.required_config_file == "config.json"
    assert model_options.required_vocab_file == "vocab.txt"


def test_a_required_file_that_nobody_checked_names_the_check():
    with pytest.raises(AssertionError, match="check_required"):
        ModelOptions().required_vocab_file  # noqa: B018  the property is computed
