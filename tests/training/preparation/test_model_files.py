"""The flags of a model that a folder states, and the files of these flags."""

import shutil

import pytest

from model_folders.reading.preset import Preset, read_preset
from tests.support.models import write_config
from tests.support.paths import SAMPLES
from tests.support.tasks.toy_task import create_config
from training.config.model_config import ModelOptions
from training.preparation.model_files import (
    check_required,
    read_bert_config,
    read_tokenizer,
    stated_flags_of,
)


@pytest.fixture
def file_flags(tmp_path):
    """Flags that name a configuration and a copy of the samples' words."""
    path = write_config(tmp_path / "bert_config.json")
    vocab = shutil.copy(SAMPLES / "vocab.txt", tmp_path)
    return ModelOptions(bert_config_file=str(path), vocab_file=str(vocab))


def test_the_configuration_is_the_one_of_the_flag(file_flags):
    assert read_bert_config(file_flags, None).hidden_size == 32


def test_the_configuration_of_the_folder_is_read_once(file_flags, tmp_path):
    """Errors about the sizes of its weights then name its file."""
    (tmp_path / "bert_model.ckpt.index").write_text("")
    preset = read_preset(tmp_path)
    assert read_bert_config(file_flags, preset) is preset.load_config()


def test_a_vocabulary_that_does_not_fit_the_network_is_named(
    file_flags, tmp_path
):
    write_config(tmp_path / "bert_config.json", vocab_size=90_000)
    config = read_bert_config(file_flags, None)
    with pytest.raises(ValueError, match=r"vocab.txt contains .* 90000"):
        read_tokenizer(file_flags, frozenset(), config, None)


def test_a_folder_decides_the_casing_that_the_user_left_open(
    file_flags, tmp_path
):
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    config = read_bert_config(file_flags, None)
    tokenizer = read_tokenizer(file_flags, frozenset(), config, None)
    assert not tokenizer.do_lower_case
    with pytest.raises(ValueError, match="--do_lower_case"):
        read_tokenizer(file_flags, frozenset({"do_lower_case"}), config, None)


def test_the_flags_that_a_folder_states_are_what_the_weights_determine():
    preset = Preset(
        "model",
        config_file="model/bert_config.json",
        vocab_file="model/vocab.txt",
        stated_casing={"do_lower_case": True},
    )
    assert stated_flags_of(preset) == {
        "left_to_right": False,
        "bert_config_file": "model/bert_config.json",
        "vocab_file": "model/vocab.txt",
        "do_lower_case": True,
    }


def test_without_weights_the_files_of_random_weights_are_asked_for():
    config = create_config("run", bert_config_file=None, vocab_file=None)
    says = (
        r"^missing required flags: --init_checkpoint \(or --bert_config_file "
        r"and --vocab_file, for random weights\)$"
    )
    with pytest.raises(ValueError, match=says):
        check_required(config, config.required_flags, None)


def test_all_missing_flags_are_named_at_once():
    config = create_config("run", max_seq_length=None)
    names = ("max_seq_length", "init_checkpoint")
    with pytest.raises(ValueError, match="missing required flags") as caught:
        check_required(config, names, None)
    assert "--max_seq_length, --init_checkpoint" in str(caught.value)


def test_flags_that_are_set_are_not_missing():
    config = create_config("run")
    names = ("bert_config_file", "vocab_file")
    check_required(config, names, None)


def test_a_folder_without_weights_is_named_before_the_flags(tmp_path):
    preset = Preset(str(tmp_path), str(tmp_path))
    names = ("vocab_file",)
    check_required(create_config("run"), names, preset)
    config = create_config("run", vocab_file=None)
    with pytest.raises(FileNotFoundError, match=f"The folder {tmp_path}"):
        check_required(config, names, preset)
