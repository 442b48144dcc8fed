"""Weights of a checkpoint in a model.

The files test_loading_*.py have checkpoints of other formats.
"""

import dataclasses

import keras
import numpy as np
import pytest

import modeling
from modeling.checkpoints.loading import load_checkpoint
from modeling.checkpoints.variables import named_variables
from tests.support.models import SMALL, built


@pytest.fixture(scope="module")
def classifier():
    """A classifier of two labels on one block."""
    return built(modeling.BertClassifier(SMALL, 2))


@pytest.fixture(scope="module")
def prefix(classifier, tmp_path_factory):
    """The checkpoint of the classifier."""
    prefix = tmp_path_factory.mktemp("tf1") / "model.ckpt"
    modeling.save_checkpoint(classifier, prefix)
    return prefix


def values_of(model):
    return {
        name: np.asarray(variable)
        for name, variable in named_variables(model).items()
        if "seed" not in name
    }


def test_a_model_gets_all_values_of_its_checkpoint(classifier, prefix):
    model = modeling.BertClassifier(SMALL, 2)
    report = load_checkpoint(model, prefix)
    expected = values_of(classifier)
    assert {*report.loaded} == {*expected}
    assert not report.missing
    for name, values in values_of(model).items():
        np.testing.assert_array_equal(values, expected[name])


def test_an_encoder_leaves_the_head_of_a_checkpoint_unused(prefix):
    report = load_checkpoint(modeling.BertModel(SMALL), prefix)
    assert {*report.unused} == {"output_weights", "output_bias"}


@pytest.fixture(scope="module")
def four_blocks(tmp_path_factory):
    """A folder with a classifier of four blocks, in two formats."""
    folder = tmp_path_factory.mktemp("four_blocks")
    config = dataclasses.replace(SMALL, num_hidden_layers=4)
    model = built(modeling.BertClassifier(config, 2, seed=5))
    modeling.save_release(model, folder / "tf1")
    modeling.save_huggingface(model, folder / "hf")
    return folder


@pytest.fixture
def three_blocks():
    """A classifier of three blocks, with random weights."""
    config = dataclasses.replace(SMALL, num_hidden_layers=3)
    return modeling.BertClassifier(config, 2)


@pytest.mark.parametrize("file_format", ["tf1", "hf"])
def test_blocks_start_from_those_that_initial_blocks_names(
    four_blocks, three_blocks, file_format
):
    config = dataclasses.replace(SMALL, num_hidden_layers=4)
    whole = modeling.BertClassifier(config, 2)
    load_checkpoint(whole, four_blocks / file_format)
    chosen_blocks = [0, 3, 3]
    report = load_checkpoint(
        three_blocks, four_blocks / file_format, initial_blocks=chosen_blocks
    )
    assert not report.missing
    assert all("layer" in name for name in report.unused)
    for index, chosen in enumerate(chosen_blocks):
        block = three_blocks.bert.encoder.blocks[index]
        expected = whole.bert.encoder.blocks[chosen]
        pairs = zip(block.weights, expected.weights, strict=True)
        for weight, expected_weight in pairs:
            np.testing.assert_array_equal(weight, expected_weight)


def test_initial_blocks_name_as_many_blocks_as_the_model_has(
    four_blocks, three_blocks
):
    with pytest.raises(ValueError, match="model's 3"):
        load_checkpoint(three_blocks, four_blocks / "hf", initial_blocks=[0, 1])


def test_another_number_of_labels_is_an_error_unless_the_head_is_new(prefix):
    model = modeling.BertClassifier(SMALL, 3)
    with pytest.raises(ValueError, match="output_"):
        load_checkpoint(model, prefix)
    report = load_checkpoint(model, prefix, replaces_head=True)
    assert {*report.new_head} == {"output_weights", "output_bias"}


def test_blocks_are_chosen_only_for_a_model_with_a_configuration(tmp_path):
    inputs = keras.Input([4])
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    with pytest.raises(ValueError, match="`initial_blocks` needs a model with"):
        modeling.load_checkpoint(model, tmp_path, initial_blocks=[0])
