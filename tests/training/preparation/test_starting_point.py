"""What a command starts from: flags, and the network of its weights."""

import json

import pytest

from model_folders import model_json
from model_folders.reading import folder_reading, settings_check
from options import config_values
from options.parsed_command import ParsedCommand
from tests.support.models import tiny_config
from tests.support.tasks.toy_task import create_config, resolve_config
from training.config.classifier_config import ClassifierConfig
from training.config.ner_config import NerConfig
from training.config.squad_config import SquadConfig
from training.config.swag_config import SwagConfig
from training.preparation.starting_point import read_initial_preset, read_start


@pytest.fixture
def left_to_right(tmp_path):
    """The folder of a run that was trained with --left_to_right."""
    folder = tmp_path / "trained"
    folder.mkdir()
    provenance = {"settings": {"seed": 1, "left_to_right": True}}
    text = json.dumps({"version": 1, "origin": provenance})
    (folder / model_json.MODEL_JSON_FILE).write_text(text)
    (folder / "model.ckpt-3.index").write_text("")
    return folder


def check_network(folder, **changes):
    """Checks the network of a command against that of its weights."""
    config = create_config(folder, **changes)
    settings_check.check_trained_settings(
        read_initial_preset(config),
        tiny_config(),
        None,
        settings=config.network,
        trains=config.training.do_train,
    )


@pytest.mark.parametrize("path", [".", "model.ckpt-3"])
def test_the_network_that_a_folder_states_is_read(left_to_right, path):
    network = folder_reading.read_preset(left_to_right / path).network
    assert network == {"left_to_right": True, "bilstm": False}


def test_a_network_flag_that_is_not_given_is_that_of_the_weights(
    left_to_right, tmp_path
):
    config = resolve_config(
        tmp_path / "new", do_eval=True, init_checkpoint=str(left_to_right)
    )
    assert config.training.left_to_right


def test_a_run_of_another_network_is_not_evaluated(left_to_right):
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(left_to_right, do_eval=True)


def test_weights_of_another_network_are_not_evaluated(left_to_right, tmp_path):
    start = str(left_to_right)
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(tmp_path / "new", do_eval=True, init_checkpoint=start)


def test_weights_without_a_bilstm_are_not_evaluated_with_one(left_to_right):
    both = {"left_to_right": True, "bilstm": True}
    with pytest.raises(ValueError, match="bilstm=False"):
        check_network(left_to_right, do_eval=True, **both)


def test_a_training_keeps_the_network(left_to_right, tmp_path):
    flags = {"do_train": True, "init_checkpoint": str(left_to_right)}
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(tmp_path / "new", **flags)


def test_a_training_may_add_a_bilstm(left_to_right, tmp_path):
    flags = {"do_train": True, "init_checkpoint": str(left_to_right)}
    check_network(tmp_path / "new", **flags, left_to_right=True, bilstm=True)


@pytest.fixture
def cased_weights(tmp_path):
    """The folder of weights whose texts keep their case."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "bert_model.ckpt.index").write_text("")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    return folder


def test_the_folder_of_the_weights_decides_a_flag_left_open(
    cased_weights, tmp_path
):
    flags = {"do_train": True, "init_checkpoint": str(cased_weights)}
    config = resolve_config(tmp_path / "run", **flags)
    assert not config.model.do_lower_case


def test_a_flag_that_the_user_set_is_preferred_to_the_folder(
    cased_weights, tmp_path
):
    flags = {"do_train": True, "init_checkpoint": str(cased_weights)}
    config = resolve_config(
        tmp_path / "run", vocab_file="mine.txt", do_lower_case=True, **flags
    )
    assert config.model.do_lower_case
    assert config.model.vocab_file == "mine.txt"


def test_a_command_that_does_not_train_needs_weights(tmp_path):
    with pytest.raises(ValueError, match="and no --init_checkpoint"):
        resolve_config(tmp_path / "run", do_eval=True)


@pytest.mark.parametrize(
    "config_class", [ClassifierConfig, NerConfig, SquadConfig, SwagConfig]
)
@pytest.mark.parametrize(
    "flags",
    [
        {"output_dir": "new", "init_checkpoint": "best", "do_predict": True},
        {"output_dir": "run", "do_predict": True},
        {"output_dir": "run", "do_train": True},
    ],
)
def test_the_head_is_named_before_its_flags(
    tmp_path, monkeypatch, config_class, flags
):
    """Lengths of another task's head, and labels, are no news of this one."""
    monkeypatch.chdir(tmp_path)
    head = {
        "name": "BertOther",
        "max_seq_length": 8,
        "output_mode": "multilabel",
    }
    text = json.dumps({"version": 1, "task": head, "origin": {}})
    for folder in ("run", "best"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / model_json.MODEL_JSON_FILE).write_text(text)
    (tmp_path / "run/model.ckpt-3.index").touch()
    parsed = ParsedCommand(
        config_values.create_config(config_class, **flags), flags
    )
    with pytest.raises(ValueError, match="contains a BertOther"):
        read_start(parsed)


@pytest.mark.parametrize("flag", ["init_checkpoint", "teacher"])
def test_the_models_of_the_hub_are_downloaded_first(tmp_path, flag):
    """Otherwise their paths would be local folders, which do not exist."""
    config = create_config(tmp_path / "run", **{flag: "hf://no-owner"})
    with pytest.raises(ValueError, match="hf://no-owner must be hf://OWNER/"):
        read_start(ParsedCommand(config))
