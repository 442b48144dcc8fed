"""AdamW and LAMB against their formulas, written in NumPy."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.support import golden
from training.config.training_config import OptimizerOptions
from training.optimizers import optimization
from training.optimizers.adamw import AdamWeightDecayOptimizer, LAMBOptimizer


@pytest.fixture(params=["plain", "eager", "compiled"])
def version(request):
    """Updates by their formula, in a graph of their own, or compiled."""
    with golden.compute_in_version(request.param) as version:
        yield version


def apply_gradients(optimizer, values, grads):
    """Returns the variables after one step for each list of gradients."""
    variables = [
        keras.Variable(value, name=name, dtype="float64")
        for name, value in values.items()
    ]
    for step in grads:
        optimizer.apply([tf.constant(grad) for grad in step], variables)
    return [variable.numpy() for variable in variables]


def create_example():
    """Returns {name: value} of variables, and gradients of five steps."""
    rng = np.random.default_rng(0)
    values = {"kernel": rng.normal(size=(3, 4)), "bias": rng.normal(size=4)}
    grads = [[rng.normal(size=(3, 4)), rng.normal(size=4)] for _ in range(5)]
    return values, grads


def create_optimizer(name, num_train_steps, num_warmup_steps):
    """Returns an optimizer at a rate of 0.1."""
    return optimization.create_optimizer(
        OptimizerOptions(optimizer=name, learning_rate=0.1),
        num_train_steps,
        num_warmup_steps,
    )


def adamw_update(m, v, w, step, decay):
    """Returns one update of AdamW at a rate of 1.

    `m` and `v` are the moments of the gradients, and `w` the weights.
    """
    return m / (np.sqrt(v) + 1e-6) + decay * w


def lamb_update(m, v, w, step, decay):
    """Returns one update of LAMB at a rate of 1, as `adamw_update` does."""
    update = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-6)
    update = update + decay * w
    return np.linalg.norm(w) / np.linalg.norm(update) * update


@pytest.mark.parametrize(
    ("optimizer_class", "formula"),
    [
        (AdamWeightDecayOptimizer, adamw_update),
        (LAMBOptimizer, lamb_update),
    ],
)
def test_optimizers_follow_their_formulas(optimizer_class, formula, version):
    values, grads = create_example()
    optimizer = optimizer_class(
        learning_rate=0.1,
        weight_decay_rate=0.01,
        exclude_from_weight_decay=["bias"],
    )
    updated = apply_gradients(optimizer, values, grads)
    for index, (decay, w) in enumerate(
        zip((0.01, 0.0), values.values(), strict=True)
    ):
        m = v = np.zeros_like(w)
        for number, step in enumerate(grads, start=1):
            m = 0.9 * m + 0.1 * step[index]
            v = 0.999 * v + 0.001 * step[index] ** 2
            w = w - 0.1 * formula(m, v, w, number, decay)
        np.testing.assert_allclose(updated[index], w, rtol=1e-6)


@pytest.mark.parametrize("corrects", [False, True])
def test_only_bias_correction_makes_adamw_keras_adam(corrects):
    values, grads = create_example()
    config = OptimizerOptions(
        learning_rate=0.1, weight_decay=0.0, bias_correction=corrects
    )
    updated = apply_gradients(
        optimization.create_optimizer(config, 10**9, 0), values, grads
    )
    keras_adam = keras.optimizers.Adam(0.1, epsilon=1e-6)
    for ours, theirs in zip(
        updated, apply_gradients(keras_adam, values, grads), strict=True
    ):
        assert np.allclose(ours, theirs, atol=1e-3) == corrects


def test_lamb_takes_a_zero_variable_at_ratio_one(version):
    optimizer = LAMBOptimizer(learning_rate=0.1)
    (kernel,) = apply_gradients(
        optimizer, {"kernel": np.zeros(2)}, [[np.ones(2)]]
    )
    np.testing.assert_allclose(kernel, [-0.1, -0.1], rtol=1e-4)


def train_two_alike(strategy):
    """Returns two variables of one shape after three updates."""
    start = np.linspace(-1, 1, 512 * 256, dtype=np.float32).reshape(512, 256)
    with strategy.scope():
        variables = [keras.Variable(start * sign) for sign in (1, -1)]
        optimizer = create_optimizer("adamw", 10, 0)
        optimizer.build(variables)

    @tf.function
    def step():
        strategy.run(
            lambda: optimizer.apply(
                [tf.sin(start * 7), tf.cos(start * 3)], variables
            )
        )

    for _ in range(3):
        step()
    return [np.array(variable) for variable in variables]


def test_large_variables_of_one_shape_are_updated_each_for_itself():
    # Large enough to be compiled, where there is no strategy.
    expected = train_two_alike(tf.distribute.get_strategy())
    for strategy in (
        tf.distribute.MirroredStrategy(["CPU:0"]),
        tf.distribute.OneDeviceStrategy("CPU:0"),
    ):
        actual = train_two_alike(strategy)
        for value, expected_value in zip(actual, expected, strict=True):
            np.testing.assert_allclose(value, expected_value, atol=1e-6)


def scale_before(optimizer, grads, variables, factor):
    """Scales gradients, and then updates the variables by them."""
    optimizer.apply([grad * factor for grad in grads], variables)


def scale_within(optimizer, grads, variables, factor):
    """Updates the variables, and scales the gradients in the update."""
    optimizer.apply_scaled(grads, variables, factor, tf.constant(True))
    optimizer.iterations.assign_add(1)


def apply_three_steps(apply, name, dtype):
    """Returns variables and the optimizer's own after three scaled updates.

    The update of one variable is compiled, and that of the other is not.
    """
    rng = np.random.default_rng(0)
    shapes = [(512, 256), (3, 4)]
    variables = [
        keras.Variable(rng.normal(size=shape), dtype=dtype) for shape in shapes
    ]
    optimizer = create_optimizer(name, 10, 1)
    optimizer.build(variables)
    for factor in (0.3, 0.6, 0.9):
        grads = [tf.constant(rng.normal(size=shape), dtype) for shape in shapes]
        apply(optimizer, grads, variables, tf.constant(factor, dtype))
    # The first two are the number of steps and the learning rate.
    return [value.numpy() for value in [*variables, *optimizer.variables[2:]]]


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)]
)
@pytest.mark.parametrize("name", optimization.OPTIMIZERS)
def test_scaling_within_the_update_is_scaling_before_it(name, dtype, tolerance):
    expected = apply_three_steps(scale_before, name, dtype)
    actual = apply_three_steps(scale_within, name, dtype)
    for value, expected_value in zip(actual, expected, strict=True):
        np.testing.assert_allclose(
            value, expected_value, rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("name", optimization.OPTIMIZERS)
def test_a_skipped_step_changes_nothing(name):
    variables = [
        keras.Variable(np.ones(shape)) for shape in [(512, 256), (3, 4)]
    ]
    optimizer = create_optimizer(name, 10, 0)
    optimizer.build(variables)
    optimizer.apply(
        [tf.ones(variable.shape) for variable in variables], variables
    )
    state = [*variables, *optimizer.variables]
    before = [np.array(variable) for variable in state]
    grads = [
        tf.fill(variable.shape, value)
        for variable, value in zip(variables, (np.nan, np.inf), strict=True)
    ]
    optimizer.apply_scaled(
        grads, variables, tf.constant(np.nan), tf.constant(False)
    )
    for variable, earlier in zip(state, before, strict=True):
        np.testing.assert_array_equal(variable, earlier)


def round_trip(optimizer):
    """Returns the optimizer that Keras restores from its config."""
    config = keras.optimizers.serialize(optimizer)
    return keras.optimizers.deserialize(json.loads(json.dumps(config)))


@pytest.mark.parametrize(
    "optimizer_class", [AdamWeightDecayOptimizer, LAMBOptimizer]
)
def test_a_restored_optimizer_updates_like_the_saved_one(optimizer_class):
    values, grads = create_example()
    saved = optimizer_class(
        learning_rate=0.1,
        weight_decay_rate=0.5,
        beta_1=0.5,
        beta_2=0.7,
        epsilon=0.1,
        exclude_from_weight_decay=["bias"],
        bias_correction=True,
    )
    restored = round_trip(saved)
    for expected, variable in zip(
        apply_gradients(saved, values, grads),
        apply_gradients(restored, values, grads),
        strict=True,
    ):
        np.testing.assert_array_equal(variable, expected)


def test_the_method_of_keras_excludes_variables_from_decay():
    values, grads = create_example()
    zeros = [[np.zeros_like(gradient) for gradient in grads[0]]]
    optimizer = AdamWeightDecayOptimizer(0.1, weight_decay_rate=0.5)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    kernel, bias = apply_gradients(optimizer, values, zeros)
    assert not np.allclose(kernel, values["kernel"])
    np.testing.assert_array_equal(bias, values["bias"])


def test_a_compiled_model_is_saved_with_its_optimizer(tmp_path):
    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
    created = optimization.create_optimizer(
        OptimizerOptions(weight_decay=0.5), 8, 2
    )
    model.compile(created, "mse")
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.optimizer.get_config() == created.get_config()
    assert loaded.optimizer.weight_decay_rate == 0.5
