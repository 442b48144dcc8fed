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


def test_the_casing_is_the_flags_or_the_configurations(tmp_path):
    checkpoint = tmp_path / "cased_L-12_H-768_A-12" / "bert_model.ckpt"
    checkpoint.parent.mkdir()
    find_casing = convert_checkpoint.find_casing
    assert find_casing(None, str(checkpoint)) is None
    assert find_casing(False, str(checkpoint)) is False
    with pytest.raises(ValueError, match="is a cased model"):
        find_casing(True, str(checkpoint))
    settings = checkpoint.parent / "tokenizer_config.json"
    settings.write_text('{"do_lower_case": true}')
    assert find_casing(None, str(checkpoint)) is True
    assert find_casing(False, str(checkpoint)) is False
