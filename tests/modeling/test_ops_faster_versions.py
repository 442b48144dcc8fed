"""Every faster version of an operation against its plain definition in ops.py.

The plain definitions themselves are compared with Google's code: as parts of
the whole network, in tests/modeling/test_task_models_golden.py.
"""

import itertools

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


def create_layer_norm(width, dtype):
    layer = keras.layers.LayerNormalization(epsilon=1e-3, dtype=dtype)
    layer.build((None, width))
    layer.gamma.assign(draw_numbers(width, number=8))
    layer.beta.assign(draw_numbers(width, number=9))
    return layer


def create_calls(name, width, dtype, seed):
    """Returns calls of an operation: (float tensors, constants) of each."""
    rows = draw_numbers(12, width), draw_numbers(12, width, number=1)
    norm = {"layer": create_layer_norm(width, dtype)}
    mode = {"training": seed is not None}
    drop = {"dropout_prob": 0.4, "seed": seed}
    hidden = draw_numbers(2, 4, width) * 3
    adder = np.random.default_rng(0).integers(-1, 1, (2, 1, 1, width)) * 1e4
    # bfloat16 does not tell scores apart where all are masked.
    adder[..., 0] = 0
    adder = tf.constant(adder, "float64" if dtype == "float64" else "float32")
    scores = {"adder": adder, "scale": 0.125} | drop
    # The last two are no classes.
    labels = tf.constant(
        [[0, width // 2, width - 1, 0], [width // 3, 0, -1, width]]
    )
    calls = {
        "dense": [
            ((*shaped, draw_numbers(width, 24), draw_numbers(24)), {})
            for shaped in (rows[:1], (hidden,))
        ],
        "look_up": [
            (
                (draw_numbers(9, width),),
                {"ids": tf.constant([[0, 8, 8], [3, 0, 1]])},
            )
        ],
        "check_range": [((0 * rows[0],), {"name": "ids", "num_rows": 1})],
        "cross_entropy": [((hidden,), {"labels": labels})],
        "reshape_like": [((rows[0], draw_numbers(3, 4, width)), {})],
        "dropout": [((hidden,), drop), ((hidden,), drop | {"dropout_prob": 0})],
        # Few elements, and many.
        "layer_norm": [
            ((inputs,), norm | mode)
            for inputs in (hidden, draw_numbers(70_000 // width, width))
        ],
        "swap_attention_heads": [((draw_numbers(2, 3, 5, width),), mode)],
        "dropout_add_norm": [
            (rows, norm | drop),
            ((hidden, draw_numbers(2, 4, width, number=1)), norm | drop),
        ],
        "attention_probs": [((draw_numbers(2, 3, 5, width) * 4,), scores)],
        "activation": [
            ((hidden,), {"hidden_act": act} | mode) for act in ops.ACTIVATIONS
        ],
    }
    return calls[name]


def compute_with_gradients(function, tensors, constants, dtype):
    """Returns a function's value and gradients, all in float64."""
    tensors = [tf.cast(tensor, dtype) for tensor in tensors]
    with tf.device("CPU:0"), tf.GradientTape() as tape:
        tape.watch(tensors)
        # What does not vary with each call goes by its name.
        (inputs, *others) = tensors
        outputs = function(inputs, *others, **constants)
        upstream = tf.cast(
            draw_numbers(*outputs.shape, number=7), outputs.dtype
        )
        loss = tf.reduce_sum(tf.cast(outputs * upstream, "float64"))
    layer = constants.get("layer")
    weights = [layer.gamma.value, layer.beta.value] if layer else []
    return [
        # The gradient of a look-up is slices.
        None
        if tensor is None
        else tf.cast(tf.convert_to_tensor(tensor), "float64")
        for tensor in (outputs, *tape.gradient(loss, [*tensors, *weights]))
    ]


def compute_in_graph(function, tensors, constants, dtype):
    """Returns the same of a version, which is meant for graphs."""
    graph = tf.function(
        lambda tensors: compute_with_gradients(
            function, tensors, constants, dtype
        ),
        autograph=False,
    )
    return graph(tensors)


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


@pytest.mark.parametrize("table, name, dtype, width", list(list_cases()))
def test_values_and_gradients_are_the_plain_ones(table, name, dtype, width):
    version = TABLES[table][name]
    plain = getattr(ops, name).plain
    seed = tf.constant(SEED) if table == "compiled" else None
    # A row of one has no variance, which blows up any other rounding.
    compute_plain = compute_in_graph if width == 1 else compute_with_gradients
    exact_calls = create_calls(name, width, "float64", seed)
    for call, exact_call in zip(
        create_calls(name, width, dtype, seed), exact_calls, strict=True
    ):
        faster = compute_in_graph(version, *call, dtype)
        # What both start from is rounded the same way.
        rounded = [tf.cast(tensor, dtype) for tensor in call[0]]
        exact = compute_plain(plain, rounded, exact_call[1], "float64")
        plainly = compute_plain(plain, *call, dtype)
        assert len(faster) == len(exact) == len(plainly)
        for one, other, right in zip(faster, plainly, exact, strict=True):
            if right is None:
                # `reshape_like` has no gradient to the shape.
                assert one is None
                continue
            assert one.shape == right.shape
            # The size of a rounding, and what is lost where numbers that
            # are nearly the same are subtracted.
            unit = {"float64": 1e-14, "float32": 1e-6, "bfloat16": 1e-2}[dtype]
            allowed = 1.5 * rms(other - right) + unit * max(rms(right), 0.1)
            assert rms(one - right) <= allowed


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
