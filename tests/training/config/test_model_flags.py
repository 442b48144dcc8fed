"""The flags of a model, and the files that they name."""

import shutil

import pytest

from model_folders.reading.preset_reading import read_preset
from model_folders.reading.presets import Preset
from tests.support.models import write_config
from tests.support.paths import SAMPLES
from tests.support.tasks.toy_task import create_config
from training.config.model_flags import (
    ModelFlags,
    check_required,
    read_bert_config,
    read_tokenizer,
)


def test_a_required_file_is_the_value_of_its_flag():
    model = ModelFlags(bert_config_file="config.json", vocab_file="vocab.txt")
    assert model.required_config_file == "config.json"
    assert model.required_vocab_file == "vocab.txt"


def test_a_required_file_that_nobody_checked_names_the_check():
    with pytest.raises(AssertionError, match="check_required"):
        ModelFlags().required_vocab_file  # noqa: B018  the property is computed


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
    check_required(config, ("bert_config_file", "vocab_file"), None)


def test_a_folder_without_weights_is_named_before_the_flags(tmp_path):
    preset = Preset(str(tmp_path), str(tmp_path), "--init_checkpoint")
    check_required(create_config("run"), ("vocab_file",), preset)
    config = create_config("run", vocab_file=None)
    with pytest.raises(FileNotFoundError, match=f"The folder {tmp_path}"):
        check_required(config, ("vocab_file",), preset)


@pytest.fixture
def model(tmp_path):
    """Flags that name a configuration and a copy of the samples' words."""
    path = write_config(tmp_path / "bert_config.json")
    vocab = shutil.copy(SAMPLES / "vocab.txt", tmp_path)
    return ModelFlags(bert_config_file=str(path), vocab_file=str(vocab))


def test_the_configuration_is_the_one_of_the_flag(model):
    assert read_bert_config(model, None).hidden_size == 32


def test_the_configuration_of_the_folder_is_read_once(model, tmp_path):
    """Errors about the sizes of its weights then name its file."""
    (tmp_path / "bert_model.ckpt.index").write_text("")
    preset = read_preset(tmp_path)
    assert read_bert_config(model, preset) is preset.load_config()


def test_a_vocabulary_that_does_not_fit_the_network_is_named(model, tmp_path):
    write_config(tmp_path / "bert_config.json", vocab_size=90_000)
    config = read_bert_config(model, None)
    with pytest.raises(ValueError, match=r"vocab.txt contains .* 90000"):
        read_tokenizer(model, frozenset(), config, None)


def test_a_folder_decides_the_casing_that_the_user_left_open(model, tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    config = read_bert_config(model, None)
    tokenizer = read_tokenizer(model, frozenset(), config, None)
    assert not tokenizer.do_lower_case
    with pytest.raises(ValueError, match="--do_lower_case"):
        read_tokenizer(model, frozenset({"do_lower_case"}), config, None)
