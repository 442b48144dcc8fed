"""A model that is called for evaluation and prediction."""

import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling.accelerated import prediction
from tests.support import models

BATCH = models.create_batch([6, 3], 6)


def create_classifier(dtype):
    """Returns a tiny model of two labels."""
    config = models.tiny_config()
    return models.built(modeling.BertClassifier(config, 2, dtype=dtype, seed=1))


def test_a_prediction_is_what_the_model_computes_without_dropout():
    model = create_classifier("float32")
    predict = tf.function(prediction.GraphPredictor(model), autograph=False)
    expected = model(BATCH, training=False)
    np.testing.assert_allclose(predict(BATCH), expected, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_kernels_of_the_compute_dtype_are_not_cast(dtype):
    model = create_classifier(dtype)
    assert prediction.GraphPredictor(model).cast_kernels() == []


def test_kernels_of_mixed_precision_are_cast_once():
    model = create_classifier("mixed_bfloat16")
    kernels = prediction.GraphPredictor(model).cast_kernels()
    paths = {weight.path for weight in model.weights}
    names = [path for path in paths if path.endswith("/kernel")]
    assert len(kernels) == len(names)
    assert {kernel.dtype for kernel in kernels} == {tf.bfloat16}


def test_a_prediction_with_cast_kernels_is_the_same():
    model = create_classifier("mixed_bfloat16")
    predictor = prediction.GraphPredictor(model)
    predict = tf.function(predictor, autograph=False)
    expected = predict(BATCH)
    outputs = predict(BATCH, predictor.cast_kernels())
    np.testing.assert_array_equal(
        tf.cast(outputs, tf.float32), tf.cast(expected, tf.float32)
    )


def test_a_prediction_uses_the_cast_kernels():
    """A step of training after `cast_kernels` does not change it."""
    model = create_classifier("mixed_bfloat16")
    predictor = prediction.GraphPredictor(model)
    kernels = predictor.cast_kernels()
    expected = np.array(predictor(BATCH, kernels), np.float32)
    for variable, _ in prediction.kernels_to_cast(model):
        variable.assign(0 * variable)
    outputs = np.array(predictor(BATCH, kernels), np.float32)
    np.testing.assert_array_equal(outputs, expected)


def test_a_model_that_xla_compiles_is_not_pinned_to_the_cpu():
    model = create_classifier("mixed_bfloat16")
    predictor = prediction.GraphPredictor(model, jit_compile=True)
    assert predictor.device is None
    assert predictor.cast_kernels() == []
