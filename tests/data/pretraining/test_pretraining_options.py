"""Shares of masks that add up to more than all of them."""

import dataclasses

import pytest

from data.pretraining.pretraining_options import MaskingOptions


def test_fractions_above_one_are_refused():
    with pytest.raises(ValueError, match="more than 1"):
        MaskingOptions(
            mask_token_prob=0.8, same_token_prob=0.3
        ).check_fractions()


@pytest.mark.parametrize("flag", ["mask_token_prob", "same_token_prob"])
def test_fractions_above_one_in_sum_name_both_flags(flag):
    options = MaskingOptions(mask_token_prob=0.8, same_token_prob=0.3)
    with pytest.raises(ValueError, match=f"--{flag}=0\\.[83]"):
        options.check_fractions()


@pytest.mark.parametrize("field", dataclasses.fields(MaskingOptions))
def test_the_defaults_are_those_of_googles_code(field):
    defaults = {
        "masked_lm_prob": 0.15,
        "do_whole_word_mask": False,
        "mask_token_prob": 0.8,
        "same_token_prob": 0.1,
    }
    assert getattr(MaskingOptions(), field.name) == defaults[field.name]


def test_mask_token_prob_and_same_token_prob_may_add_up_to_one():
    MaskingOptions(mask_token_prob=0.9, same_token_prob=0.1).check_fractions()
