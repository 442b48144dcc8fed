"""Heads of other labels and of other tasks begin at random values."""

import re

import numpy as np
import pytest

import modeling
from tests.support.log_lines import logged_warnings
from tests.support.models import built, tiny_config

WARNING = "The head starts at random values: "


@pytest.fixture(params=["save_huggingface", "save_release"])
def folder(request, tmp_path):
    """A folder with a classifier of two labels."""
    model = built(modeling.BertClassifier(tiny_config(), 2, seed=1))
    modeling.named_variables(model)["output_bias"].assign([1.0, 2.0])
    save = getattr(modeling, request.param)
    save(model, tmp_path / "model", labels=["no", "yes"])
    return tmp_path / "model"


def load_weights(folder, keras_class=modeling.BertClassifier, **options):
    """Returns {Google's name: value} of a model that starts from a folder."""
    model = keras_class.from_preset(folder, **options)
    weights = modeling.named_variables(model)
    return {name: np.asarray(value) for name, value in weights.items()}


def check_new_head(before, now, caplog, says):
    """Checks that only the head differs, and that one warning says so."""
    (warning,) = logged_warnings(caplog)
    names = "output_weights, output_bias"
    assert says in warning
    assert f"{WARNING}{names}" in warning
    assert not now["output_bias"].any()
    assert now["output_weights"].std() > 0
    for name in before:
        if name.startswith("bert/"):
            np.testing.assert_array_equal(now[name], before[name], name)


def test_a_head_of_another_number_of_labels_begins_anew(folder, caplog):
    before = load_weights(folder)
    caplog.clear()
    now = load_weights(folder, num_labels=3)
    check_new_head(before, now, caplog, "has 2 outputs, but the model has 3")
    assert now["output_weights"].shape == (3, 16)


@pytest.mark.parametrize("flags", [{}, {"num_labels": 2}])
def test_a_head_of_the_same_number_of_labels_is_loaded(flags, folder, caplog):
    assert list(load_weights(folder, **flags)["output_bias"]) == [1.0, 2.0]
    assert not logged_warnings(caplog)


def test_a_head_of_other_labels_begins_anew(folder, caplog):
    before = load_weights(folder)
    caplog.clear()
    now = load_weights(folder, labels=["ham", "spam"])
    check_new_head(before, now, caplog, "no, yes; the task has ham, spam")
    caplog.clear()
    now = load_weights(folder, labels=["ham", "no", "yes"])
    check_new_head(before, now, caplog, "no, yes; the task has ham, no, yes")


def test_labels_in_another_order_reorder_the_head(folder, caplog):
    before = load_weights(folder)
    caplog.clear()
    now = load_weights(folder, labels=["yes", "no"])
    assert list(now["output_bias"]) == [2.0, 1.0]
    np.testing.assert_array_equal(
        now["output_weights"], before["output_weights"][::-1]
    )
    assert not logged_warnings(caplog)


def test_labels_must_be_as_many_as_the_outputs(folder):
    with pytest.raises(ValueError, match="must name 3"):
        load_weights(folder, labels=["no", "yes"], num_labels=3)


def test_a_head_of_another_kind_begins_anew(tmp_path, caplog):
    saved = built(modeling.BertTokenClassifier(tiny_config(), 2, seed=1))
    modeling.save_huggingface(saved, tmp_path / "model")
    before = load_weights(tmp_path / "model", modeling.BertTokenClassifier)
    caplog.clear()
    now = load_weights(tmp_path / "model", num_labels=2)
    check_new_head(before, now, caplog, "contains a BertTokenClassifier")
    with pytest.raises(ValueError, match="does not state num_labels"):
        load_weights(tmp_path / "model")


def test_a_subclass_keeps_the_head_of_its_class(folder, caplog):
    class Classifier(modeling.BertClassifier):
        pass

    now = load_weights(folder, Classifier, num_labels=2)
    assert list(now["output_bias"]) == [1.0, 2.0]
    assert not logged_warnings(caplog)


def test_a_checkpoint_of_another_number_of_labels_is_not_loaded(folder):
    """Only what somebody asked for begins anew."""
    model = modeling.BertClassifier(tiny_config(), 3)
    with pytest.raises(ValueError, match="output_weights has shape"):
        modeling.load_checkpoint(model, folder)


def test_an_encoder_of_another_size_does_not_begin_anew(folder):
    config = tiny_config(hidden_size=8, intermediate_size=16)
    with pytest.raises(ValueError, match="has shape"):
        load_weights(folder, num_labels=3, config=config)


def test_a_new_head_has_a_new_lstm(tmp_path, caplog):
    config = tiny_config()
    saved = built(modeling.BertClassifier(config, 2, bilstm=True, seed=1))
    modeling.save_release(saved, tmp_path / "model")
    before = load_weights(tmp_path / "model", bilstm=True)
    caplog.clear()
    now = load_weights(tmp_path / "model", bilstm=True, num_labels=3)
    names = [name for name in before if name.startswith("bilstm/")]
    kernels = [name for name in names if "bias" not in name]
    assert kernels
    (warning,) = logged_warnings(caplog)
    assert {*names} <= {*re.findall(r"[\w/]+", warning)}
    for name in kernels:
        assert (now[name] != before[name]).any(), name
