"""The values of the flags of tools/convert_checkpoint.py."""

import pytest

from model_folders import kinds
from tools.conversion.convert_checkpoint_config import (
    CLASS_OF_FLAG,
    FLAG_OF_CLASS,
    ConvertCheckpointConfig,
)


@pytest.mark.parametrize("value", CLASS_OF_FLAG)
def test_each_value_of_the_flag_model_stands_for_one_class(value):
    model_class = CLASS_OF_FLAG[value]
    assert model_class in kinds.KIND_OF_CLASS
    assert FLAG_OF_CLASS[model_class] == value


def test_a_local_checkpoint_is_not_downloaded(tmp_path):
    config = ConvertCheckpointConfig(
        init_checkpoint=str(tmp_path), output_dir="converted"
    )
    assert config.download() == config
