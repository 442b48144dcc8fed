"""The values of the flags of tools/convert_checkpoint.py."""

import pytest

from model_folders import kinds
from tools.conversion.convert_checkpoint_config import (
    CLASS_OF_FLAG,
    FLAG_OF_CLASS,
)


@pytest.mark.parametrize("value", CLASS_OF_FLAG)
def test_each_value_of_the_flag_model_stands_for_one_class(value):
    model_class = CLASS_OF_FLAG[value]
    assert model_class in kinds.KIND_OF_CLASS
    assert FLAG_OF_CLASS[model_class] == value
