"""Private names of TensorFlow and Keras, each used in one module.

They have no promise of stability. These tests fail where an upgrade of
TensorFlow or Keras removes or changes one of them.
"""

import re

import keras
import pytest
import tensorflow as tf

from modeling.accelerated import tracing
from modeling.layers import Dense, all_layers
from serving.export import formats
from tests.golden import ROOT
from tests.test_layout import PACKAGES, sources
from training.optimizers.adamw import AdamWeightDecayOptimizer

MODULES = {
    "_flatten_layers": "modeling/layers.py",
    "StatelessScope": "modeling/accelerated/tracing.py",
    "_all_reduce_sum_gradients": "training/optimizers/adamw.py",
    "convert_to_constants": "serving/export/formats.py",
}
PRIVATE = re.compile(
    r"\b(?:_flatten_layers|_all_reduce_sum_gradients"
    r"|StatelessScope|(?:tensorflow\.python|keras\.src)[\w.]*?\.(\w+) import)\b"
)


def test_each_private_name_has_one_module():
    uses = {
        (match[1] or match[0], str(path.relative_to(ROOT)))
        for package in PACKAGES
        for path in sources(package)
        for match in PRIVATE.finditer(path.read_text())
    }
    assert sorted(uses) == sorted(MODULES.items())


def test_an_upgrade_of_keras_still_lists_inner_layers():
    half = keras.layers.LSTM(2)
    both = keras.layers.Bidirectional(half)
    model = keras.Sequential([keras.Input((3, 4)), both, Dense(5)])
    layers = all_layers(model)
    kinds = [type(layer).__name__ for layer in layers]
    assert layers[0] is model
    assert kinds.count("LSTM") == kinds.count("LSTMCell") == 2
    assert len(layers) == len({id(layer) for layer in layers})


def test_an_upgrade_of_keras_still_replaces_values_by_other_types():
    layer = Dense(2, dtype="mixed_bfloat16")
    layer.build((None, 3))
    value = tf.ones((3, 2), tf.bfloat16)
    with tracing.replaced_values([(layer.kernel, value)]):
        assert layer.kernel.value is value
    assert layer.kernel.value.dtype == tf.float32


@pytest.mark.parametrize("aggregate", [False, True])
def test_an_upgrade_of_keras_still_sums_gradients_in_this_method(
    aggregate, monkeypatch
):
    calls = []

    def reduce_sum(optimizer, pairs):
        calls.append(optimizer)
        return pairs

    base = AdamWeightDecayOptimizer.__mro__[1]
    monkeypatch.setattr(base, "_all_reduce_sum_gradients", reduce_sum)
    optimizer = AdamWeightDecayOptimizer(aggregate_gradients=aggregate)
    variable = keras.Variable([1.0])
    optimizer.apply([tf.constant([1.0])], [variable])
    assert len(calls) == aggregate


def test_an_upgrade_of_tensorflow_still_freezes_variables():
    variable = tf.Variable([2.0])

    @tf.function(input_signature=[tf.TensorSpec([1])], autograph=False)
    def double(inputs):
        return inputs * variable

    frozen = formats.convert_variables_to_constants_v2(
        double.get_concrete_function()
    )
    assert not frozen.captured_inputs
    assert frozen(tf.constant([3.0]))[0] == 6.0
