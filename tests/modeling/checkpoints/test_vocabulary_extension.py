"""The rows of new words in a model with an extended vocabulary."""

import numpy as np
import pytest

import modeling
from modeling.checkpoints.variables import named_variables
from modeling.checkpoints.vocabulary_extension import extend_model
from tests.support.models import SMALL, built

WORDS = "bert/embeddings/word_embeddings"
# All old rows, and a new word of the rows 2 and 4.
ROWS = [*([row] for row in range(SMALL.vocab_size)), [2, 4]]


@pytest.fixture
def model():
    """A model of both tasks of pretraining."""
    return built(modeling.BertPretrainer(SMALL))


@pytest.fixture
def extended(model):
    """The model with one more word."""
    return extend_model(model, ROWS)


def values_of(model, name):
    """Returns the values of a variable."""
    return named_variables(model)[name].numpy()


def test_the_vector_of_a_new_word_is_the_mean_of_its_wordpieces(
    model, extended
):
    old = values_of(model, WORDS)
    np.testing.assert_allclose(
        values_of(extended, WORDS)[-1], (old[2] + old[4]) / 2, atol=1e-7
    )


def test_the_vectors_of_old_words_are_unchanged(model, extended):
    np.testing.assert_array_equal(
        values_of(extended, WORDS)[:-1], values_of(model, WORDS)
    )


def test_other_weights_are_unchanged(model, extended):
    name = "bert/encoder/layer_0/attention/self/query/kernel"
    np.testing.assert_array_equal(
        values_of(extended, name), values_of(model, name)
    )


def test_the_configuration_counts_the_new_word(extended):
    assert extended.config.vocab_size == SMALL.vocab_size + 1
    assert values_of(extended, "cls/predictions/output_bias").shape == (17,)
