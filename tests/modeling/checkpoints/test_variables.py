"""Names of variables, and which values of a file reach which variables."""

from types import SimpleNamespace

import numpy as np
import pytest

import modeling
from model_folders.formats.weight_entries import WeightEntry
from modeling.checkpoints.variables import (
    google_name_of,
    named_variables,
    restore_variables,
)
from tests.support import golden
from tests.support.checkpoints import list_weights
from tests.support.models import SMALL, built

WORDS = "bert/embeddings/word_embeddings"
QUERY = "bert/encoder/layer_0/attention/self/query/kernel"


@pytest.fixture
def model():
    """A classifier of two labels on one block."""
    return built(modeling.BertClassifier(SMALL, 2))


@pytest.fixture
def entries(model):
    """{Google's name: array} of a file that fits the model, all ones."""
    return {
        name: np.ones(variable.shape, "float32")
        for name, variable in named_variables(model).items()
        if "seed" not in name
    }


def restore_model(model, entries, **options):
    """Restores a model from arrays, and returns the report."""
    stored = {
        name: WeightEntry(value.shape, value.dtype.name, value.copy)
        for name, value in entries.items()
    }
    return restore_variables(model, "model.ckpt", stored, **options)


def value_of(model, name):
    """Returns the values of a variable."""
    return named_variables(model)[name].numpy()


def test_each_variable_gets_the_value_of_its_name(model, entries):
    entries["output_bias"] = np.array([0.5, -0.5], "float32")
    restore_model(model, entries)
    assert value_of(model, "output_bias").tolist() == [0.5, -0.5]


def test_a_complete_file_leaves_nothing_missing_or_unused(model, entries):
    report = restore_model(model, entries)
    assert {*report.loaded} == {*entries}
    assert report.missing == []
    assert report.unused == []


def test_a_missing_head_keeps_its_values(model, entries):
    del entries["output_weights"]
    before = value_of(model, "output_weights")
    report = restore_model(model, entries)
    assert report.missing == ["output_weights"]
    np.testing.assert_array_equal(value_of(model, "output_weights"), before)


def test_a_new_head_keeps_its_values_though_the_file_has_some(model, entries):
    before = value_of(model, "output_weights")
    report = restore_model(model, entries, new_head=["output_weights"])
    assert report.new_head == ["output_weights"]
    np.testing.assert_array_equal(value_of(model, "output_weights"), before)


def test_an_entry_that_no_variable_reads_is_unused(model, entries):
    entries["global_step"] = np.float32(7)
    assert restore_model(model, entries).unused == ["global_step"]


def test_blocks_are_copied_from_the_layers_of_the_file(model, entries):
    renamed = {
        name.replace("layer_0", "layer_5"): value
        for name, value in entries.items()
    }
    assert restore_model(model, renamed, initial_blocks=[5]).missing == []


def test_a_file_without_a_weight_of_the_encoder_is_refused(model, entries):
    del entries[WORDS]
    with pytest.raises(ValueError, match=f"lacks 1 .* such as {WORDS}"):
        restore_model(model, entries)


def test_another_shape_is_named_with_both_shapes(model, entries):
    entries["output_bias"] = np.ones(3, "float32")
    with pytest.raises(ValueError, match=r"shape \[3\] .* but \[2\]"):
        restore_model(model, entries)


def test_integers_are_refused(model, entries):
    entries[WORDS] = entries[WORDS].astype("int32")
    with pytest.raises(ValueError, match="is of type int32"):
        restore_model(model, entries)


def test_a_value_that_is_not_finite_is_named_with_its_place(model, entries):
    entries[WORDS][3, 1] = np.nan
    with pytest.raises(ValueError, match=r"is nan at \[3, 1\]"):
        restore_model(model, entries)


def test_an_error_changes_no_variable(model, entries):
    before = value_of(model, WORDS)
    entries["output_bias"][:] = np.inf
    with pytest.raises(ValueError, match="is inf"):
        restore_model(model, entries)
    np.testing.assert_array_equal(value_of(model, WORDS), before)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (QUERY, QUERY),
        (f"my_model/{QUERY}", QUERY),
        (
            "cls/predictions_head/cls/predictions/output_bias",
            "cls/predictions/output_bias",
        ),
        ("my_model/head/output_weights", "output_weights"),
        ("my_model/bilstm/forward/kernel", "bilstm/forward/kernel"),
        ("my_model/projection/kernel", "my_model/projection/kernel"),
    ],
)
def test_the_path_before_googles_name_is_left_out(path, name):
    assert google_name_of(SimpleNamespace(path=path)) == name


def test_the_head_of_a_classifier_has_googles_names():
    variables = named_variables(built(modeling.BertClassifier(SMALL, 2)))
    assert variables["output_weights"].shape == (2, SMALL.hidden_size)
    assert variables["output_bias"].shape == (2,)


@pytest.fixture(scope="module")
def pretrained():
    """(names of the weights in a checkpoint of Google's code, its config)."""
    index = golden.path_params("models/*/bert_model.ckpt.index")[-1].values[0]
    names = {*list_weights(index.with_suffix(""))}
    return names, modeling.load_config(index.parent)


@pytest.mark.parametrize(
    ("keras_class", "arguments", "head_names"),
    [
        (modeling.BertModel, {}, set()),
        (modeling.BertModel, {"name": "encoder"}, set()),
        (
            modeling.BertClassifier,
            {"num_labels": 2},
            {"output_weights", "output_bias"},
        ),
        (
            modeling.BertSpanLabeler,
            {"name": "bert"},
            {"cls/squad/output_weights", "cls/squad/output_bias"},
        ),
    ],
)
def test_the_encoder_of_every_model_has_googles_names(
    pretrained, keras_class, arguments, head_names
):
    names, config = pretrained
    model = built(keras_class(config, **arguments))
    encoder_names = {name for name in names if name.startswith("bert/")}
    expected = encoder_names | head_names
    assert {google_name_of(weight) for weight in model.weights} == expected


def test_the_heads_of_pretraining_have_googles_names(pretrained):
    names, config = pretrained
    model = built(modeling.BertPretrainer(config, name="cls"))
    assert {google_name_of(weight) for weight in model.weights} == names


def test_names_and_shapes_are_those_of_googles_release():
    """Of this release there is only the index, with names and shapes."""
    folder = golden.shared_path("data/checkpoints/chinese_index")
    model = built(modeling.BertPretrainer(modeling.load_config(folder)))
    shapes = {
        google_name_of(weight): list(weight.shape) for weight in model.weights
    }
    assert shapes == list_weights(folder / "bert_model.ckpt")
