"""Outputs are put in the order of the labels that a caller asks for."""

import numpy as np
import pytest

import modeling
from tests.support.models import built
from tests.support.weights.huggingface_files import CONFIG

FEATURES = {"input_ids": np.arange(8)[None]}


@pytest.fixture(params=[modeling.BertClassifier, modeling.BertTokenClassifier])
def keras_class(request):
    """A class of models whose outputs have labels."""
    return request.param


@pytest.fixture(params=["save_huggingface", "save_release"])
def saved_model(request, keras_class, tmp_path):
    """(folder of a model of three labels, its outputs)."""
    bert_config = modeling.BertConfig.from_dict(CONFIG)
    model = built(keras_class(bert_config, 3, seed=1))
    modeling.named_variables(model)["output_bias"].assign([1.0, 2.0, 3.0])
    labels = ["entailment", "neutral", "contradiction"]
    getattr(modeling, request.param)(model, tmp_path, labels=labels)
    return tmp_path, np.asarray(model(FEATURES))


@pytest.fixture
def other_model(keras_class):
    """A model of other weights."""
    return keras_class(modeling.BertConfig.from_dict(CONFIG), 3, seed=2)


def test_outputs_are_put_in_the_labels_order(saved_model, other_model):
    folder, outputs = saved_model
    labels = ["contradiction", "entailment", "neutral"]
    modeling.load_checkpoint(other_model, folder, label_alternatives=[labels])
    expected = outputs[..., [2, 0, 1]]
    np.testing.assert_allclose(other_model(FEATURES), expected, atol=1e-6)


@pytest.mark.parametrize("labels", [[["a", "b", "c"]], ()])
def test_outputs_without_the_labels_names_keep_their_order(
    saved_model, other_model, labels
):
    folder, outputs = saved_model
    modeling.load_checkpoint(other_model, folder, label_alternatives=labels)
    np.testing.assert_allclose(other_model(FEATURES), outputs, atol=1e-6)


def test_outputs_in_another_order_are_not_new(saved_model, other_model):
    folder, _ = saved_model
    labels = ["contradiction", "entailment", "neutral"]
    report = modeling.load_checkpoint(
        other_model, folder, label_alternatives=[labels]
    )
    assert not report.missing
