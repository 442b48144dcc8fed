"""Shares of masks that add up to more than all of them."""

import pytest

from data.pretraining.pretraining_options import MaskingOptions


def test_shares_above_one_are_refused():
    with pytest.raises(ValueError, match="more than 1"):
        MaskingOptions(mask_token_prob=0.8, same_token_prob=0.3).check_shares()


def test_shares_may_add_up_to_one():
    MaskingOptions(mask_token_prob=0.9, same_token_prob=0.1).check_shares()
