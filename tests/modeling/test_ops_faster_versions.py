"""Every faster version of an operation against its plain definition in ops.py.

The plain definitions themselves are compared with Google's code: as parts of
the whole network, in tests/modeling/test_task_models_golden.py.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

from modeling import accelerated, ops

SEED = (5, 6)
# {name of a function of ops.py: its faster version} of each table.
TABLES = {
    table: {function.__name__: version for function, version in pairs.items()}
    for table, pairs in {
        "always": accelerated.ALWAYS,
        "vocabulary": accelerated.MANY_CLASSES,
        "compiled": accelerated.COMPILED,
        "fused_on_cpu": accelerated.FUSED_ON_CPU,
        "inference": accelerated.INFERENCE,
    }.items()
}
# Other tests: they return random numbers, and a function.
APART = {"keep_mask", "trace_once"}
DTYPES = ("float64", "float32", "bfloat16")
# The smallest row that XLA is given, and one beyond a vector's register.
WIDTHS = (1, 3, 130)


def list_cases():
    """Yields all cases; XLA takes seconds for each, so some run later."""
    for table, versions in TABLES.items():
        for name, dtype, width in itertools.product(versions, DTYPES, WIDTHS):
            if name in APART or (table, dtype) == ("fused_on_cpu", "float64"):
                # TensorFlow fuses 32 and 16 bits.
                continue
            is_compiled = table in ("compiled", "vocabulary")
            widths = (1, 130) if dtype == "float64" else (130,)
            marks = []
            if is_compiled and width not in widths:
                marks = [pytest.mark.soak]
            elif is_compiled and (dtype == "bfloat16" or width == 1):
                marks = [pytest.mark.slow]
            yield pytest.param(table, name, dtype, width, marks=marks)


def draw_numbers(*shape, number=0):
    return np.random.default_rng(number).normal(size=shape)


class Call(NamedTuple):
    """The arguments of a call of an operation.

    Attributes:
        tensors: the float tensors, of which the test computes the gradients.
        constants: the other arguments, by their names.
    """

    tensors: Sequence[np.ndarray]
    constants: Mapping[str, object] = {}


def draw_rows(width):
    """Returns inputs [12, width]."""
    return draw_numbers(12, width)


def draw_sequences(width):
    """Returns inputs [2, 4, width], two sequences of four positions."""
    return draw_numbers(2, 4, width) * 3


def create_layer_norm(width, dtype):
    layer = keras.layers.LayerNormalization(epsilon=1e-3, dtype=dtype)
    layer.build((None, width))
    layer.gamma.assign(draw_numbers(width, number=8))
    layer.beta.assign(draw_numbers(width, number=9))
    return layer


def list_dense_calls(width, dtype, seed):
    kernel, bias = draw_numbers(width, 24), draw_numbers(24)
    return [
        Call((inputs, kernel, bias))
        for inputs in (draw_rows(width), draw_sequences(width))
    ]


def list_look_up_calls(width, dtype, seed):
    ids = tf.constant([[0, 8, 8], [3, 0, 1]])
    return [Call((draw_numbers(9, width),), {"ids": ids})]


def list_check_range_calls(width, dtype, seed):
    return [Call((0 * draw_rows(width),), {"name": "ids", "num_rows": 1})]


def list_cross_entropy_calls(width, dtype, seed):
    # The last two are no classes.
    labels = tf.constant(
        [[0, width // 2, width - 1, 0], [width // 3, 0, -1, width]]
    )
    return [Call((draw_sequences(width),), {"labels": labels})]


def list_reshape_like_calls(width, dtype, seed):
    return [Call((draw_rows(width), draw_numbers(3, 4, width)))]


def list_dropout_calls(width, dtype, seed):
    return [
        Call((draw_sequences(width),), {"dropout_prob": rate, "seed": seed})
        for rate in (0.4, 0)
    ]


def list_layer_norm_calls(width, dtype, seed):
    constants = {
        "layer": create_layer_norm(width, dtype),
        "training": seed is not None,
    }
    # Few elements, and many.
    return [
        Call((inputs,), constants)
        for inputs in (
            draw_sequences(width),
            draw_numbers(70_000 // width, width),
        )
    ]


def list_swap_attention_heads_calls(width, dtype, seed):
    heads = draw_numbers(2, 3, 5, width)
    return [Call((heads,), {"training": seed is not None})]


def list_dropout_add_norm_calls(width, dtype, seed):
    constants = {
        "layer": create_layer_norm(width, dtype),
        "dropout_prob": 0.4,
        "seed": seed,
    }
    return [
        Call((draw_rows(width), draw_numbers(12, width, number=1)), constants),
        Call(
            (draw_sequences(width), draw_numbers(2, 4, width, number=1)),
            constants,
        ),
    ]


def list_attention_probs_calls(width, dtype, seed):
    adder = np.random.default_rng(0).integers(-1, 1, (2, 1, 1, width)) * 1e4
    # bfloat16 does not tell scores apart where all are masked.
    adder[..., 0] = 0
    constants = {
        "adder": tf.constant(
            adder, "float64" if dtype == "float64" else "float32"
        ),
        "scale": 0.125,
        "dropout_prob": 0.4,
        "seed": seed,
    }
    return [Call((draw_numbers(2, 3, 5, width) * 4,), constants)]


def list_activation_calls(width, dtype, seed):
    return [
        Call(
            (draw_sequences(width),),
            {"hidden_act": name, "training": seed is not None},
        )
        for name in ops.ACTIVATIONS
    ]


# {operation: function that lists its calls for a width, a dtype and a seed}.
# All have the same parameters, although some operations have no seed.
LIST_CALLS = {
    "dense": list_dense_calls,
    "look_up": list_look_up_calls,
    "check_range": list_check_range_calls,
    "cross_entropy": list_cross_entropy_calls,
    "reshape_like": list_reshape_like_calls,
    "dropout": list_dropout_calls,
    "layer_norm": list_layer_norm_calls,
    "swap_attention_heads": list_swap_attention_heads_calls,
    "dropout_add_norm": list_dropout_add_norm_calls,
    "attention_probs": list_attention_probs_calls,
    "activation": list_activation_calls,
}


def compute_with_gradients(function, call, dtype):
    """Returns a function's value and gradients, all in float64."""
    tensors = [tf.cast(tensor, dtype) for tensor in call.tensors]
    with tf.device("CPU:0"), tf.GradientTape() as tape:
        tape.watch(tensors)
        outputs = function(*tensors, **call.constants)
        upstream = tf.cast(
            draw_numbers(*outputs.shape, number=7), outputs.dtype
        )
        loss = tf.reduce_sum(tf.cast(outputs * upstream, "float64"))
    layer = call.constants.get("layer")
    weights = [layer.gamma.value, layer.beta.value] if layer else []
    return [
        # The gradient of a look-up is slices.
        None
        if tensor is None
        else tf.cast(tf.convert_to_tensor(tensor), "float64")
        for tensor in (outputs, *tape.gradient(loss, [*tensors, *weights]))
    ]


def compute_in_graph(function, call, dtype):
    """Returns the same of a version, which is meant for graphs."""
    graph = tf.function(
        lambda tensors: compute_with_gradients(
            function, call._replace(tensors=tensors), dtype
        ),
        autograph=False,
    )
    return graph(call.tensors)


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def allowed_error(plain, exact, dtype):
    """Returns the largest error (RMS) that a faster version may have.

    It is half as much again as the error of the plain version, and a rounding
    of the values. Where nearly equal numbers are subtracted, the values are
    small, but the rounding is not.
    """
    rounding = {"float64": 1e-14, "float32": 1e-6, "bfloat16": 1e-2}[dtype]
    return 1.5 * rms(plain - exact) + rounding * max(rms(exact), 0.1)


def assert_as_exact_as_plain(faster, plain, exact, dtype):
    """Compares a value or a gradient of a faster version with the plain one."""
    if exact is None:
        # `reshape_like` has no gradient to the shape.
        assert faster is None
        return
    assert faster.shape == exact.shape
    assert rms(faster - exact) <= allowed_error(plain, exact, dtype)


@pytest.mark.parametrize("table, name, dtype, width", list(list_cases()))
def test_values_and_gradients_are_the_plain_ones(table, name, dtype, width):
    plain_version = getattr(ops, name).plain
    seed = tf.constant(SEED) if table == "compiled" else None
    # A row of one has no variance, which blows up any other rounding.
    compute_plain = compute_in_graph if width == 1 else compute_with_gradients
    calls = LIST_CALLS[name](width, dtype, seed)
    exact_calls = LIST_CALLS[name](width, "float64", seed)
    for call, exact_call in zip(calls, exact_calls, strict=True):
        # All versions start from the same rounded values.
        rounded = [tf.cast(tensor, dtype) for tensor in call.tensors]
        exact_call = exact_call._replace(tensors=rounded)
        results = zip(
            compute_in_graph(TABLES[table][name], call, dtype),
            compute_plain(plain_version, call, dtype),
            compute_plain(plain_version, exact_call, "float64"),
            strict=True,
        )
        for faster, plain, exact in results:
            assert_as_exact_as_plain(faster, plain, exact, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_compiled_cross_entropy_is_exact_to_float32(dtype):
    logits = tf.cast(draw_numbers(3, 2, 50) * 3 + 1000, dtype)
    labels = tf.constant([[0, 49], [7, -1], [50, 3]], tf.int64)
    # A batch's size and a label's rank may be unknown.
    version = tf.function(
        accelerated.MANY_CLASSES[ops.cross_entropy],
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


def test_versions_that_depend_on_training_are_of_functions_that_show_it():
    for table in ("compiled", "fused_on_cpu", "inference"):
        for name in TABLES[table]:
            assert getattr(ops, name).training_parameter, name


@pytest.mark.backends
def test_plain_dropout_drops_its_share_and_scales_up_the_others():
    inputs = keras.ops.ones((50, 200))
    generator = keras.random.SeedGenerator(1)
    seed = generator.next()
    another = generator.next()

    def drop(seed):
        with ops.plain_versions():
            outputs = ops.dropout(inputs, 0.1, seed=seed)
        return keras.ops.convert_to_numpy(outputs)

    dropped = drop(seed)
    assert abs(np.mean(dropped == 0) - 0.1) < 0.02
    np.testing.assert_allclose(dropped[dropped != 0], 1 / 0.9, rtol=1e-6)
    np.testing.assert_array_equal(dropped, drop(seed))
    assert (dropped != drop(another)).mean() > 0.1
    np.testing.assert_array_equal(drop(None), inputs)
