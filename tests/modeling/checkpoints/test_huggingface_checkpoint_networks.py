"""Activations and epsilons of a config.json, by transformers' formulas.

tests/tools/test_convert_checkpoint.py compares what whole models compute.
"""

import json

import keras
import numpy as np
import pytest
from scipy import special

import modeling
from modeling import plain_ops
from modeling.layers import all_layers
from tests.support.models import built
from tests.support.weights.huggingface_files import CONFIG


def gelu_exact(x):
    return 0.5 * x * (1 + special.erf(x / np.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x * special.expit(x)


# transformers/activations.py, ACT2FN.
FORMULAS = {
    "gelu": gelu_exact,
    "gelu_python": gelu_exact,
    "gelu_new": gelu_tanh,
    "gelu_fast": gelu_tanh,
    "gelu_accurate": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "linear": lambda x: x,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": special.expit,
    "silu": silu,
    "swish": silu,
    "tanh": np.tanh,
}


@pytest.mark.parametrize(
    "changes",
    [
        *({"hidden_act": name} for name in FORMULAS),
        *({"layer_norm_eps": value} for value in (1e-5, 0.1)),
    ],
    ids=str,
)
def test_a_network_is_that_of_its_config_json(tmp_path, changes):
    values = {"hidden_act": "gelu", "layer_norm_eps": 1e-12} | changes
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | changes))
    model = built(modeling.BertModel(modeling.load_config(tmp_path)))
    inputs = np.linspace(-5, 5, 99)
    formula = FORMULAS[values["hidden_act"]]
    for block in model.encoder.blocks:
        outputs = plain_ops.ACTIVATIONS[block.intermediate.hidden_act](inputs)
        np.testing.assert_allclose(outputs, formula(inputs), atol=1e-7)
    epsilons = [
        layer.epsilon
        for layer in all_layers(model)
        if isinstance(layer, keras.layers.LayerNormalization)
    ]
    assert epsilons == [values["layer_norm_eps"]] * 5
    # And back: the same network under the name that transformers has now.
    modeling.save_huggingface(model, tmp_path / "back")
    written = json.loads((tmp_path / "back/config.json").read_text())
    assert written["layer_norm_eps"] == values["layer_norm_eps"]
    assert FORMULAS[written["hidden_act"]] is formula
    modeling.save_release(model, tmp_path / "release")
    for folder in ("back", "release"):
        assert modeling.load_config(tmp_path / folder) == model.config
