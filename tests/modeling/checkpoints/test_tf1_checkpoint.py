"""TF1 checkpoints of Google's code and of other code, loaded into models."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from modeling import (
    BertClassifier,
    BertConfig,
    BertModel,
    BertPretrainer,
    load_checkpoint,
    load_config,
    read_shapes,
    save_checkpoint,
)
from modeling.checkpoints.tf1_writer import write_checkpoint
from modeling.checkpoints.variables import google_name_of
from tests.support import golden
from tests.support.checkpoints import (
    DAMAGES_OF_SIZE,
    damage_checkpoint,
    read_checkpoint,
)
from tests.support.model_cases import assert_close
from tests.support.models import SMALL, built


@pytest.fixture
def source():
    """A whole checkpoint and its configuration."""
    path = golden.path_params("models/*/bert_model.ckpt.index")[-1].values[0]
    return str(path).removesuffix(".index"), load_config(path.parent)


def test_a_checkpoint_of_another_implementation_is_loaded():
    folder = golden.shared_path("data/checkpoints/keras_bert_test")
    path = str(folder / "bert_model.ckpt")
    model = BertPretrainer(load_config(folder))
    report = load_checkpoint(model, path)
    assert not report.missing
    assert not report.unused  # Adam's slots and the step do not count.
    before = read_checkpoint(path)
    expected = [before[google_name_of(weight)] for weight in model.weights]
    assert_close(model.weights, expected, 0)


def test_a_head_that_the_checkpoint_lacks_keeps_its_initial_weights(source):
    path, config = source
    report = load_checkpoint(BertClassifier(config, 3), path)
    assert report.path == path
    assert sorted(report.missing) == ["output_bias", "output_weights"]
    assert "cls/predictions/output_bias" in report.unused


def test_loaded_variables_are_logged_as_by_googles_code(source, caplog):
    path, config = source
    with caplog.at_level("DEBUG", logger="absl"):
        load_checkpoint(BertClassifier(config, 3), path)
    line = "name = bert/pooler/dense/bias, shape = (32,), *INIT_FROM_CKPT*"
    assert line in caplog.text


def test_a_saved_classifier_is_loaded_with_its_head(source, tmp_path):
    path, config = source
    model = BertClassifier(config, 3, name="my_classifier")
    load_checkpoint(model, path)
    save_checkpoint(model, tmp_path / "model.ckpt")
    other = BertClassifier(config, 3)
    assert not load_checkpoint(other, tmp_path / "model.ckpt").missing
    assert_close(model.weights, other.weights, 0)


def test_a_users_model_around_bert_loads_the_weights_of_bert(source):
    path, config = source
    bert = BertModel(config)
    input_ids = keras.Input((8,), dtype="int32")
    pooled = bert(input_ids)["pooled_output"]
    model = keras.Model(input_ids, keras.layers.Dense(2, name="mine")(pooled))
    report = load_checkpoint(model, path)
    assert report.missing == ["mine/kernel", "mine/bias"]
    expected = tf.train.load_variable(path, "bert/pooler/dense/kernel")
    np.testing.assert_array_equal(bert.pooler.kernel, expected)


def test_names_behind_one_prefix_are_read(tmp_path):
    model = built(BertModel(SMALL))
    names = {google_name_of(weight): weight for weight in model.weights}
    path = tmp_path / "hub.ckpt"
    scoped = {f"module/{name}": weight for name, weight in names.items()}
    # Another variable with the name of one of them.
    outside = {"bert/pooler/dense/bias": keras.Variable([1.0])}
    write_checkpoint(path, scoped | outside)
    other = BertModel(SMALL)
    report = load_checkpoint(other, path)
    assert not report.missing
    assert not report.unused
    assert_close(other.weights, model.weights, 0)
    assert read_shapes(path).keys() == names.keys()


@pytest.mark.parametrize("damage", [*DAMAGES_OF_SIZE, "other data"])
def test_a_damaged_checkpoint_is_not_loaded(tmp_path, damage):
    prefix = tmp_path / "bert_model.ckpt"
    save_checkpoint(built(BertModel(SMALL)), prefix)
    damage_checkpoint(prefix, damage)
    with pytest.raises(OSError, match=f"{prefix} cannot be read"):
        load_checkpoint(BertModel(SMALL), prefix)


def check_refused(model, path, message):
    """Checks that loading fails, and that nothing is assigned."""
    before = model.get_weights()
    with pytest.raises(ValueError, match=message):
        load_checkpoint(model, path)
    assert_close(model.weights, before, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab_size": 77}, "word_embeddings"),
        ({"max_position_embeddings": 128}, "position_embeddings"),
        ({"hidden_size": 64}, r"\[99, 32\].*\[99, 64\]"),
        ({"intermediate_size": 64}, "intermediate/dense/kernel"),
        ({"num_hidden_layers": 4}, "bert/encoder/layer_3/"),
    ],
)
def test_another_size_is_named_and_nothing_is_assigned(
    source, changes, message
):
    path, config = source
    sizes = config.to_dict() | changes
    model = built(BertModel(BertConfig.from_dict(sizes)))
    check_refused(model, path, message)


@pytest.mark.parametrize("dtype", ["int32", "str"])
def test_weights_of_another_type_are_refused(tmp_path, dtype):
    model = built(BertModel(SMALL))
    weights = {
        google_name_of(weight): np.asarray(weight) for weight in model.weights
    }
    path = tmp_path / "model.ckpt"
    wrong = np.zeros(4).astype(dtype)
    write_checkpoint(path, weights | {"bert/pooler/dense/bias": wrong})
    check_refused(model, path, "bert/pooler/dense/bias")


def test_two_berts_in_one_model_cannot_be_distinguished(source):
    input_ids = keras.Input((8,), dtype="int32")
    one = BertModel(SMALL, name="one")(input_ids)["pooled_output"]
    two = BertModel(SMALL, name="two")(input_ids)["pooled_output"]
    model = keras.Model(input_ids, one + two)
    with pytest.raises(ValueError, match="several BertModels"):
        load_checkpoint(model, source[0])
