"""The base class of the layers, and the list of the layers of a model."""

import keras
import pytest

from modeling.dense import Dense
from modeling.layers import BertLayer, all_layers
from tests.support.models import tiny_config

pytestmark = pytest.mark.backends


def test_a_layer_normalizes_with_the_epsilon_of_its_configuration():
    layer = BertLayer(
        tiny_config(layer_norm_eps=1e-3),
        keras.initializers.Zeros(),
        dtype="float64",
    )
    layer_norm = layer.create_layer_norm()
    assert layer_norm.epsilon == 1e-3
    assert layer_norm.dtype_policy.name == "float64"


def test_all_layers_lists_inner_layers_once():
    shared = Dense(2, name="shared")
    inner = keras.Sequential([shared, Dense(2, name="inner")])
    outer = keras.Sequential([inner, shared])
    names = [layer.name for layer in all_layers(outer)]
    assert names.count("shared") == 1
    assert names.count("inner") == 1
