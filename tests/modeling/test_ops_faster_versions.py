"""Every faster version of an operation against its plain definition in ops.py.

The plain definitions themselves are compared with their formulas in
tests/modeling/test_ops.py, and as parts of the whole network with Google's code
in tests/modeling/test_task_models_golden.py.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

from modeling import accelerated, ops
from modeling.accelerated import compiled, fusions, tracing

SEED = tf.constant((5, 6))
# A single column, fewer than a register of the processor contains, and more.
WIDTHS = (1, 3, 130)
for_each_width = pytest.mark.parametrize("width", WIDTHS)
for_each_dtype = pytest.mark.parametrize(
    "dtype", ["float64", "float32", "bfloat16"]
)
# TensorFlow fuses these operations in 32 and 16 bits only.
for_each_fused_dtype = pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
# XLA takes seconds for each of these.
for_each_compiled_type = pytest.mark.parametrize(
    ("dtype", "width"),
    [
        ("float64", 130),
        ("float32", 130),
        pytest.param("bfloat16", 130, marks=pytest.mark.slow),
        pytest.param("float64", 1, marks=pytest.mark.slow),
        pytest.param("float64", 3, marks=pytest.mark.soak),
        pytest.param("float32", 1, marks=pytest.mark.soak),
        pytest.param("float32", 3, marks=pytest.mark.soak),
        pytest.param("bfloat16", 1, marks=pytest.mark.soak),
        pytest.param("bfloat16", 3, marks=pytest.mark.soak),
    ],
)
# The axes before the last one: rows, or sequences of positions.
for_each_rank = pytest.mark.parametrize("axes", [(12,), (2, 4)])
for_each_activation = pytest.mark.parametrize("name", ops.ACTIVATIONS)


def draw_numbers(*shape, number=0):
    return np.random.default_rng(number).normal(size=shape)


def create_layer_norm(width, dtype):
    layer = keras.layers.LayerNormalization(epsilon=1e-3, dtype=dtype)
    layer.build((None, width))
    layer.gamma.assign(draw_numbers(width, number=8))
    layer.beta.assign(draw_numbers(width, number=9))
    return layer


def create_adder(width, dtype):
    """Returns what masks about half of the scores, [2, 1, 1, width]."""
    adder = np.random.default_rng(0).integers(-1, 1, (2, 1, 1, width)) * 1e4
    # bfloat16 does not tell scores apart where all are masked.
    adder[..., 0] = 0
    return tf.constant(adder, "float64" if dtype == "float64" else "float32")


def layer_norm_options(width, dtype):
    """Returns the options of `layer_norm` in a type."""
    return {"layer": create_layer_norm(width, dtype), "training": False}


def attention_options(width, dtype, seed):
    """Returns the options of `attention_probs` in a type."""
    return {
        "adder": create_adder(width, dtype),
        "scale": 0.125,
        "dropout_prob": 0.4,
        "seed": seed,
    }


def add_norm_options(width, dtype, seed):
    """Returns the options of `dropout_add_norm` in a type."""
    return {
        "layer": create_layer_norm(width, dtype),
        "dropout_prob": 0.4,
        "seed": seed,
    }


def compute_with_gradients(function, tensors, options, dtype):
    """Returns a function's value and gradients in float64, from one graph.

    The gradients are those to the tensors, and to the weights of the layer if
    there is one among the options. None is the gradient to a tensor whose
    values the function does not read.
    """

    def compute(tensors):
        tensors = [tf.cast(tensor, dtype) for tensor in tensors]
        with tf.device("CPU:0"), tf.GradientTape() as tape:
            tape.watch(tensors)
            outputs = function(*tensors, **options)
            upstream = tf.cast(
                draw_numbers(*outputs.shape, number=7), outputs.dtype
            )
            loss = tf.reduce_sum(tf.cast(outputs * upstream, "float64"))
        layer = options.get("layer")
        weights = [layer.gamma.value, layer.beta.value] if layer else []
        return [
            # The gradient of a look-up is slices.
            None
            if tensor is None
            else tf.cast(tf.convert_to_tensor(tensor), "float64")
            for tensor in (outputs, *tape.gradient(loss, [*tensors, *weights]))
        ]

    return tf.function(compute, autograph=False)(tensors)


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def assert_same_as_plain(
    faster, operation, tensors, dtype, options=None, exact_options=None
):
    """Compares the value and the gradients of both versions of an operation.

    The error (RMS) may be half as much again as that of the plain version, and
    a rounding of the values. Where nearly equal numbers are subtracted, the
    values are small, but the rounding is not.

    Args:
        faster: the faster version.
        operation: the function of ops.py.
        tensors: its float tensors, the first of its arguments.
        dtype: type to compute in.
        options: its other arguments, by their names.
        exact_options: these in float64, if they depend on the type.
    """
    options = options or {}
    # All versions start from the same rounded values.
    tensors = [tf.cast(tensor, dtype) for tensor in tensors]
    results = compute_with_gradients(faster, tensors, options, dtype)
    plain_results = compute_with_gradients(
        operation.plain, tensors, options, dtype
    )
    exact_results = compute_with_gradients(
        operation.plain, tensors, exact_options or options, "float64"
    )
    rounding = {"float64": 1e-14, "float32": 1e-6, "bfloat16": 1e-2}[dtype]
    for result, plain, exact in zip(
        results, plain_results, exact_results, strict=True
    ):
        if exact is None:
            assert result is None
            continue
        assert result.shape == exact.shape
        allowed = 1.5 * rms(plain - exact) + rounding * max(rms(exact), 0.1)
        assert rms(result - exact) <= allowed


@for_each_width
@for_each_dtype
@for_each_rank
def test_a_fused_dense_layer_is_the_plain_one(axes, dtype, width):
    kernel = draw_numbers(width, 24)
    tensors = [draw_numbers(*axes, width), kernel, draw_numbers(24)]
    assert_same_as_plain(fusions.dense, ops.dense, tensors, dtype)


@for_each_width
@for_each_dtype
def test_a_fused_look_up_is_the_plain_one(dtype, width):
    options = {"ids": tf.constant([[0, 8, 8], [3, 0, 1]])}
    tensors = [draw_numbers(9, width)]
    assert_same_as_plain(fusions.look_up, ops.look_up, tensors, dtype, options)


@for_each_width
@for_each_dtype
def test_a_fused_check_of_a_range_is_the_plain_one(dtype, width):
    options = {"name": "ids", "num_rows": 1}
    tensors = [np.zeros((12, width))]
    assert_same_as_plain(
        fusions.with_range_check, ops.with_range_check, tensors, dtype, options
    )


@for_each_width
@for_each_dtype
def test_a_fused_reshape_is_the_plain_one(dtype, width):
    tensors = [draw_numbers(12, width), draw_numbers(3, 4, width)]
    assert_same_as_plain(fusions.reshape_like, ops.reshape_like, tensors, dtype)


@for_each_width
@for_each_dtype
@for_each_activation
def test_a_fused_activation_is_the_plain_one(name, dtype, width):
    options = {"hidden_act": name, "training": False}
    tensors = [draw_numbers(2, 4, width) * 3]
    assert_same_as_plain(
        fusions.activation, ops.activation, tensors, dtype, options
    )


@for_each_width
@for_each_dtype
def test_a_fused_swap_of_attention_heads_is_the_plain_one(dtype, width):
    tensors = [draw_numbers(2, 3, 5, width)]
    assert_same_as_plain(
        fusions.swap_attention_heads,
        ops.swap_attention_heads,
        tensors,
        dtype,
        {"training": False},
    )


@for_each_width
@for_each_fused_dtype
@pytest.mark.parametrize("num_elements", [24, 70_000])
def test_a_fused_layer_norm_is_the_plain_one(num_elements, dtype, width):
    tensors = [draw_numbers(max(num_elements // width, 2), width) * 3]
    assert_same_as_plain(
        fusions.layer_norm,
        ops.layer_norm,
        tensors,
        dtype,
        layer_norm_options(width, dtype),
        layer_norm_options(width, "float64"),
    )


@for_each_width
@for_each_fused_dtype
def test_fused_attention_probabilities_are_the_plain_ones(dtype, width):
    tensors = [draw_numbers(2, 3, 5, width) * 4]
    assert_same_as_plain(
        fusions.attention_probs,
        ops.attention_probs,
        tensors,
        dtype,
        attention_options(width, dtype, seed=None),
        attention_options(width, "float64", seed=None),
    )


@for_each_width
@for_each_fused_dtype
@for_each_rank
def test_a_fused_sum_and_layer_norm_are_the_plain_ones(axes, dtype, width):
    tensors = [
        draw_numbers(*axes, width) * 3,
        draw_numbers(*axes, width, number=1),
    ]
    assert_same_as_plain(
        fusions.dropout_add_norm,
        ops.dropout_add_norm,
        tensors,
        dtype,
        add_norm_options(width, dtype, seed=None),
        add_norm_options(width, "float64", seed=None),
    )


@for_each_compiled_type
@for_each_activation
def test_a_compiled_activation_is_the_plain_one(name, dtype, width):
    options = {"hidden_act": name, "training": True}
    tensors = [draw_numbers(2, 4, width) * 3]
    assert_same_as_plain(
        compiled.activation, ops.activation, tensors, dtype, options
    )


@for_each_compiled_type
@pytest.mark.parametrize("rate", [0.4, 0])
def test_a_compiled_dropout_is_the_plain_one(rate, dtype, width):
    options = {"dropout_prob": rate, "seed": SEED}
    tensors = [draw_numbers(2, 4, width) * 3]
    assert_same_as_plain(compiled.dropout, ops.dropout, tensors, dtype, options)


@for_each_compiled_type
def test_compiled_attention_probabilities_are_the_plain_ones(dtype, width):
    tensors = [draw_numbers(2, 3, 5, width) * 4]
    assert_same_as_plain(
        compiled.attention_probs,
        ops.attention_probs,
        tensors,
        dtype,
        attention_options(width, dtype, seed=SEED),
        attention_options(width, "float64", seed=SEED),
    )


@for_each_compiled_type
@for_each_rank
def test_a_compiled_dropout_sum_and_layer_norm_are_the_plain_ones(
    axes, dtype, width
):
    tensors = [
        draw_numbers(*axes, width) * 3,
        draw_numbers(*axes, width, number=1),
    ]
    assert_same_as_plain(
        compiled.dropout_add_norm,
        ops.dropout_add_norm,
        tensors,
        dtype,
        add_norm_options(width, dtype, seed=SEED),
        add_norm_options(width, "float64", seed=SEED),
    )


@for_each_compiled_type
def test_a_compiled_cross_entropy_is_the_plain_one(dtype, width):
    # The last two labels are no classes.
    labels = [[0, width // 2, width - 1, 0], [width // 3, 0, -1, width]]
    options = {"labels": tf.constant(labels)}
    tensors = [draw_numbers(2, 4, width) * 3]
    assert_same_as_plain(
        compiled.cross_entropy, ops.cross_entropy, tensors, dtype, options
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_compiled_cross_entropy_is_exact_to_float32(dtype):
    logits = tf.cast(draw_numbers(3, 2, 50) * 3 + 1000, dtype)
    labels = tf.constant([[0, 49], [7, -1], [50, 3]], tf.int64)
    # A batch's size and a label's rank may be unknown.
    version = tf.function(
        compiled.cross_entropy,
        input_signature=[
            tf.TensorSpec([None, None, 50], dtype),
            tf.TensorSpec(None, tf.int64),
        ],
        autograph=False,
    )
    losses = version(logits, labels)
    assert losses.dtype == "float32"
    exact = ops.cross_entropy.plain(tf.cast(logits, "float64"), labels)
    np.testing.assert_allclose(losses, exact, rtol=1e-6, atol=1e-6)
    assert np.count_nonzero(losses) == 4


@pytest.mark.parametrize(
    "versions",
    [accelerated.COMPILED, accelerated.FUSED_ON_CPU, accelerated.INFERENCE],
)
def test_an_operation_with_versions_for_training_or_inference_shows_its_mode(
    versions,
):
    for operation in versions:
        assert operation.training_parameter, operation.__name__


def test_these_are_all_faster_versions():
    """If you add a version, compare it above, and add it here."""
    tables = (
        accelerated.ALWAYS,
        accelerated.MANY_CLASSES,
        accelerated.COMPILED,
        accelerated.FUSED_ON_CPU,
        accelerated.INFERENCE,
    )
    versions = {version for table in tables for version in table.values()}
    assert versions == {
        fusions.dense,
        fusions.look_up,
        fusions.with_range_check,
        fusions.reshape_like,
        fusions.activation,
        fusions.swap_attention_heads,
        fusions.layer_norm,
        fusions.attention_probs,
        fusions.dropout_add_norm,
        compiled.activation,
        compiled.dropout,
        compiled.attention_probs,
        compiled.dropout_add_norm,
        compiled.cross_entropy,
        # Other tests: they return random numbers, and a function.
        compiled.keep_mask,
        tracing.trace_once,
    }
