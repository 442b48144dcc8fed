"""The flags of a command that runs a model, and which of them are missing."""

import json

import pytest

from model_folders.model_json import TrainingSettings
from model_folders.reading.preset import Preset
from tests.support.tasks.toy_task import create_config
from training.config.model_config import ModelOptions, check_required


def test_without_weights_the_files_of_random_weights_are_asked_for():
    config = create_config("run", bert_config_file=None, vocab_file=None)
    says = (
        r"^missing required flags: --init_checkpoint \(or --bert_config_file "
        r"and --vocab_file, for random weights\)$"
    )
    with pytest.raises(ValueError, match=says):
        check_required(
            config,
            config.required_flags,
            None,
            training_settings=TrainingSettings(),
        )


def test_all_missing_flags_are_named_at_once():
    config = create_config("run", max_seq_length=None)
    names = ("max_seq_length", "init_checkpoint")
    with pytest.raises(ValueError, match="missing required flags") as caught:
        check_required(
            config, names, None, training_settings=TrainingSettings()
        )
    assert "--max_seq_length, --init_checkpoint" in str(caught.value)


def test_flags_that_are_set_are_not_missing():
    config = create_config("run")
    names = ("bert_config_file", "vocab_file")
    check_required(config, names, None, training_settings=TrainingSettings())


def test_a_folder_without_weights_is_named_before_the_flags(tmp_path):
    preset = Preset(str(tmp_path), str(tmp_path))
    names = ("vocab_file",)
    check_required(
        create_config("run"),
        names,
        preset,
        training_settings=TrainingSettings(),
    )
    config = create_config("run", vocab_file=None)
    with pytest.raises(FileNotFoundError, match=f"The folder {tmp_path}"):
        check_required(
            config, names, preset, training_settings=TrainingSettings()
        )


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
