"""The path of weights that exist, or that an error names."""

import pytest

from model_folders.reading.weights_paths import check_exists


def test_check_exists_names_the_flag_and_the_models_of_the_hub():
    with pytest.raises(FileNotFoundError) as raised:
        check_exists("my/model", "--init_checkpoint")
    assert str(raised.value) == (
        "--init_checkpoint=my/model does not exist; for a model of the hub, "
        "use hf://my/model"
    )
