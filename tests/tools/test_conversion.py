"""The parts of tools.convert_checkpoint that need no checkpoint."""

import pytest

import modeling
from tools import convert_checkpoint


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"classifier.weight": []}, r"classifier.weight in .* has shape \[\]"),
        ({"classifier.weight": [8]}, r"has shape \[8\], but must have"),
        ({"output_weights": [0, 8]}, r"has shape \[0, 8\], but must have"),
        ({"pooler.dense.bias": [8]}, "has neither output_weights nor"),
    ],
)
def test_output_weights_of_another_shape_are_refused(shapes, message):
    with pytest.raises(ValueError, match=message):
        convert_checkpoint.create_model(
            "classifier", modeling.BertConfig(24), "model.safetensors", shapes
        )
