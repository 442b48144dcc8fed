"""What a command starts from: flags, and the folder of its weights."""

import json
import shutil

import pytest

from model_folders import model_json
from options.parsed_command import ParsedCommand
from tests.support.tasks.run_settings import write_left_to_right_run
from tests.support.tasks.toy_task import create_config, load_toy_starting_point
from training.config.classifier_config import ClassifierConfig
from training.config.ner_config import NerConfig
from training.config.squad_config import SquadConfig
from training.config.swag_config import SwagConfig
from training.preparation.starting_point_loading import load_starting_point


def test_a_network_flag_that_is_not_given_is_that_of_the_weights(
    tmp_path,
):
    folder = write_left_to_right_run(tmp_path / "trained")
    config = load_toy_starting_point(
        tmp_path / "new", do_eval=True, init_checkpoint=str(folder)
    ).config
    assert config.training.left_to_right


@pytest.fixture
def cased_weights(tmp_path):
    """The folder of weights whose texts keep their case."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "bert_model.ckpt.index").write_text("")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    return folder


@pytest.fixture
def cased_words(tmp_path):
    """Path of a vocabulary with an uppercase letter."""
    path = tmp_path / "mine.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nAnna\n")
    return str(path)


def test_the_folder_of_the_weights_decides_a_flag_left_open(
    cased_weights, cased_words, tmp_path
):
    flags = {"do_train": True, "init_checkpoint": str(cased_weights)}
    config = load_toy_starting_point(
        tmp_path / "run", vocab_file=cased_words, **flags
    ).config
    assert not config.model.do_lower_case


def test_a_flag_that_the_user_set_is_preferred_to_the_folder(
    cased_weights, cased_words, tmp_path
):
    shutil.copy(cased_words, cased_weights / "vocab.txt")
    flags = {"do_train": True, "init_checkpoint": str(cased_weights)}
    config = load_toy_starting_point(
        tmp_path / "run", vocab_file=cased_words, **flags
    ).config
    assert config.model.vocab_file == cased_words


def test_a_command_that_does_not_train_needs_weights(tmp_path):
    with pytest.raises(ValueError, match="and no --init_checkpoint"):
        load_toy_starting_point(tmp_path / "run", do_eval=True)


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
    parsed = ParsedCommand(config_class.from_values(**flags), flags)
    with pytest.raises(ValueError, match="contains a BertOther"):
        load_starting_point(parsed)


@pytest.mark.parametrize("flag", ["init_checkpoint", "teacher"])
def test_the_models_of_the_hub_are_downloaded_first(tmp_path, flag):
    """Otherwise their paths would be local folders, which do not exist."""
    config = create_config(tmp_path / "run", **{flag: "hf://no-owner"})
    with pytest.raises(ValueError, match="hf://no-owner must be hf://OWNER/"):
        load_starting_point(ParsedCommand(config))
