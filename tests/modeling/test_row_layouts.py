"""A batch computed without its padding is the batch with it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling import row_layouts
from tests.support import models
from tests.support.model_cases import outputs_and_gradients
from tests.support.models import as_lists, integers

CONFIG = models.tiny_config(**models.NO_DROPOUT)


def features(lengths, length):
    batch = models.create_batch(lengths, length)
    return {name: tf.constant(value) for name, value in batch.items()}


@pytest.mark.backends
def test_the_rows_of_words_are_kept_in_their_order():
    is_wordpiece = integers([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
    row_map = row_layouts.plan_trimming(is_wordpiece, integers([3, 2]))
    # So few positions are all kept, those of padding last.
    assert as_lists(row_map) == row_layouts.RowMap(
        shape=(2, 6),
        positions=[0, 1, 2, 6, 7, 3, 4, 5, 8, 9, 10, 11],
        row_numbers=[1, 2, 3, 6, 7, 8, 4, 5, 9, 10, 11, 12],
        spare=11,
    )


@pytest.mark.backends
def test_the_number_of_rows_is_rounded_up():
    is_wordpiece = integers(np.arange(200)[None] < 65)
    row_map = row_layouts.plan_trimming(is_wordpiece, integers([65]))
    assert len(row_map.positions) == 128
    numbers = keras.ops.convert_to_numpy(row_map.row_numbers)
    np.testing.assert_array_equal(numbers[:128], np.arange(1, 129))
    assert not numbers[128:].any()


@pytest.fixture(
    scope="module",
    params=[
        (False, False),
        (True, False),
        pytest.param((True, True), marks=pytest.mark.slow),
    ],
)
def padded_and_not(request):
    """Outputs and gradients of a batch with its padding, and without."""
    training, gradient_checkpointing = request.param
    functions = []
    for trim_padding in (False, True):
        model = modeling.BertModel(
            CONFIG,
            trim_padding=trim_padding,
            gradient_checkpointing=gradient_checkpointing,
            dtype="float64",
            seed=1,
        )
        functions.append(outputs_and_gradients(models.built(model), training))
    return functions


@pytest.mark.parametrize(
    "lengths", [[40, 3, 17, 1, 22], [40] * 5, [1, 1, 1, 1, 1], [0, 5, 9, 40, 2]]
)
def test_outputs_and_gradients_are_the_same_without_padding(
    padded_and_not, lengths
):
    batch = features(lengths, 40)
    results = [compute(batch) for compute in padded_and_not]
    for padded, trimmed in zip(*map(tf.nest.flatten, results), strict=True):
        np.testing.assert_allclose(trimmed, padded, rtol=1e-9, atol=1e-11)


def test_a_mask_of_rank_3_is_computed_with_its_padding():
    batch = features([8, 8, 8], 8)
    mask = np.tril(np.ones((3, 8, 8), np.int32))
    outputs = [
        modeling.BertSpanLabeler(CONFIG, trim_padding=trim_padding, seed=1)(
            batch | {"input_mask": tf.constant(mask)}
        )["start_logits"]
        for trim_padding in (False, True)
    ]
    np.testing.assert_array_equal(*outputs)


@pytest.mark.backends
@pytest.mark.parametrize("length", [None, 8])
def test_a_functional_model_computes_the_same_on_any_backend(length):
    """The inputs of the functional model may be of any length."""
    batch = models.create_batch([8, 3], 8)
    inputs = {name: keras.Input([length], dtype="int32") for name in batch}
    classifier = modeling.BertClassifier(CONFIG, 2)
    model = keras.Model(inputs, classifier(inputs))
    assert model.output_shape == (None, 2)
    np.testing.assert_allclose(
        *map(keras.ops.convert_to_numpy, (model(batch), classifier(batch))),
        rtol=1e-5,
    )


@pytest.mark.backends
def test_gradients_reach_the_words_on_any_backend():
    model = modeling.BertClassifier(CONFIG, 2, trim_padding=True, seed=1)
    batch = {
        "input_ids": np.ones((3, 8), "int32"),
        "input_mask": np.tri(3, 8, 2, dtype="int32"),
        "label_ids": np.array([0, 1, 1], "int32"),
    }
    outputs = model(batch, training=True)
    if keras.backend.backend() == "torch":
        outputs.sum().backward()
        assert model.bert.embeddings.word_embeddings.value.grad.norm() > 0
    assert outputs.shape == (3, 2)


def test_padding_takes_no_part_in_the_choice_of_a_span():
    batch = features([40, 12], 40)
    model = modeling.BertSpanLabeler(CONFIG, trim_padding=True, seed=1)
    outputs = model(batch)
    assert (outputs["start_logits"].numpy()[1, 12:] < -9000).all()
    alone = {name: value[1:, :12] for name, value in batch.items()}
    for name, logits in model(alone).items():
        np.testing.assert_allclose(logits[0], outputs[name][1, :12], atol=1e-5)


@pytest.mark.backends
def test_the_rows_of_a_padded_layout_are_all_positions():
    padded = keras.ops.ones((2, 3, 4))
    row_layout = row_layouts.PaddedRowLayout(padded)
    rows = row_layout.to_rows(padded)
    assert rows.shape == (6, 4)
    assert row_layout.from_rows(rows).shape == (2, 3, 4)
