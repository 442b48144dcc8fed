"""Which flags select the scalable mode, and which contradict each other."""

import pytest

from data.pretraining.pretraining_data_config import PretrainingDataConfig


def config_with(**flags):
    """Returns the flags of a command that sets only some of them."""
    required = {"input_file": "a.txt", "output_file": "out", "vocab_file": "v"}
    return PretrainingDataConfig.from_values(**required | flags)


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


def test_the_fractions_are_checked_before_any_file_is_read():
    config = config_with(mask_token_prob=0.8, same_token_prob=0.3)
    with pytest.raises(ValueError, match=r"--same_token_prob=0\.3"):
        config.check_early()
