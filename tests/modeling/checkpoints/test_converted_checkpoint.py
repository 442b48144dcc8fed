"""What is loaded of the weights of other libraries, in any format."""

import numpy as np
import pytest

import modeling
from model_folders.formats.weight_entries import (
    NEXT_SENTENCE_POOLER,
    POOLER,
    WeightEntry,
)
from model_folders.reading.preset import Preset
from modeling.checkpoints.converted_checkpoint import (
    ConvertedCheckpoint,
    ConvertedFormat,
)
from modeling.checkpoints.variables import named_variables
from tests.support.log_lines import logged_warnings
from tests.support.models import SMALL, built


def array_checkpoint(arrays, num_heads=None):
    """Returns a checkpoint whose entries are arrays.

    Args:
        arrays: {Google's name: array}.
        num_heads: number of heads that the shape of each query shows.
    """

    def open_entries(_):
        return {
            name: WeightEntry(
                value.shape,
                value.dtype.name,
                lambda value=value: value,
                num_heads if "query" in name else None,
            )
            for name, value in arrays.items()
        }

    array_format = ConvertedFormat("arrays", str, open_entries)
    return ConvertedCheckpoint("model.h5", Preset(""), array_format)


@pytest.fixture
def pretrainer():
    """A model of both tasks of pretraining."""
    return built(modeling.BertPretrainer(SMALL))


@pytest.fixture
def arrays(pretrainer):
    """{Google's name: array} of the pretrainer's weights, all zeros."""
    return {
        name: np.zeros(variable.shape, "float32")
        for name, variable in named_variables(pretrainer).items()
        if "seed" not in name
    }


def load_arrays(model, arrays, **options):
    """Loads arrays into a model, and returns the report."""
    return array_checkpoint(arrays, **options).load(model)


def add_second_pooler(arrays):
    """Adds a pooler of ones that belongs to the head for next sentences."""
    for name in ("kernel", "bias"):
        own = np.ones_like(arrays[f"{POOLER}/{name}"])
        arrays[f"{NEXT_SENTENCE_POOLER}/{name}"] = own


def pooler_bias(model):
    """Returns the bias of a model's pooler."""
    return named_variables(model)[f"{POOLER}/bias"].numpy().tolist()


def test_shapes_are_those_of_the_entries(arrays):
    checkpoint = array_checkpoint(arrays)
    assert checkpoint.shapes[f"{POOLER}/bias"] == (SMALL.hidden_size,)


def test_all_values_are_loaded(pretrainer, arrays):
    report = load_arrays(pretrainer, arrays)
    assert report.missing == []
    assert pooler_bias(pretrainer) == [0, 0, 0, 0]


def test_an_entry_that_bert_lacks_is_warned_of(pretrainer, arrays, caplog):
    arrays["crf/transitions"] = np.ones(3, "float32")
    assert load_arrays(pretrainer, arrays).unused == ["crf/transitions"]
    (warning,) = logged_warnings(caplog)
    assert "crf/transitions" in warning


def test_next_sentences_are_answered_with_the_pooler_of_their_head(
    pretrainer, arrays
):
    add_second_pooler(arrays)
    load_arrays(pretrainer, arrays)
    assert pooler_bias(pretrainer) == [1, 1, 1, 1]


def test_an_encoder_gets_its_own_pooler(arrays):
    add_second_pooler(arrays)
    encoder = built(modeling.BertModel(SMALL))
    load_arrays(encoder, arrays)
    assert pooler_bias(encoder) == [0, 0, 0, 0]


def test_another_number_of_heads_is_refused(pretrainer, arrays):
    with pytest.raises(ValueError, match="has 2 attention heads in"):
        load_arrays(pretrainer, arrays, num_heads=2)
