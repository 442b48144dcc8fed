"""Flags that the folder of the weights decides."""

import pytest

from tests.support.tasks.toy_task import resolve_config


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


def test_the_user_decides_before_the_folder(cased_weights, tmp_path):
    flags = {"do_train": True, "init_checkpoint": str(cased_weights)}
    config = resolve_config(
        tmp_path / "run", vocab_file="mine.txt", do_lower_case=True, **flags
    )
    assert config.model.do_lower_case
    assert config.model.vocab_file == "mine.txt"


def test_a_command_that_does_not_train_needs_weights(tmp_path):
    with pytest.raises(ValueError, match="and no --init_checkpoint"):
        resolve_config(tmp_path / "run", do_eval=True)
