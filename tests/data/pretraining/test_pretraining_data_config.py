"""Which flags select the scalable mode, and the casing of a vocabulary."""

import pytest

from command_line.config_values import create_config
from command_line.flags import ParsedCommand
from data.pretraining.pretraining_data_config import (
    PretrainingDataConfig,
    complete_casing,
)


def config_with(**flags):
    """Returns the flags of a command that sets only some of them."""
    required = {"input_file": "a.txt", "output_file": "out", "vocab_file": "v"}
    return create_config(PretrainingDataConfig, **required | flags)


def test_the_flags_of_googles_script_keep_its_order():
    assert not config_with(do_whole_word_mask=True, dupe_factor=5).is_scalable


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_processes", 1),
        ("num_processes", 0),
        ("num_shards", 1),
        ("pipeline", "beam"),
        ("sentence_split", "en"),
        ("dynamic_masking", True),
        ("eval_fraction", 0.1),
    ],
)
def test_a_flag_that_googles_script_lacks_selects_the_scalable_mode(
    name, value
):
    flags = {name: value}
    assert config_with(**flags).is_scalable


@pytest.fixture
def cased_vocabulary(tmp_path):
    """A vocabulary, beside a file that says that it is cased."""
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nHarbor\n")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    return str(path)


def test_the_casing_is_that_of_the_vocabulary(cased_vocabulary):
    parsed = ParsedCommand(config_with(vocab_file=cased_vocabulary))
    assert parsed.config.instances.do_lower_case
    assert not complete_casing(parsed).instances.do_lower_case


def test_a_casing_that_contradicts_the_vocabulary_is_refused(cased_vocabulary):
    parsed = ParsedCommand(
        config_with(vocab_file=cased_vocabulary, do_lower_case=True),
        {"do_lower_case": True},
    )
    with pytest.raises(ValueError, match="do_lower_case"):
        complete_casing(parsed)
