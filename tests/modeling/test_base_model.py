"""Models that are created from the folder of their weights."""

import dataclasses
import json
import shutil

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from tests.support.log_lines import logged_warnings
from tests.support.models import built, tiny_config
from tests.support.paths import ROOT, SAMPLES

RECORDED = ROOT / "tests/testdata/huggingface/BertModel"
# The setting of another pooling, which a warning names.
POOLING = "pooling_mode_cls_token"


# What a run records of a classifier that reads from left to right.
MODEL_JSON = """{
"version": 1, "task": {"name": "BertClassifier"},
"origin": {"settings": {"left_to_right": true}}
}"""


@pytest.fixture
def saved(tmp_path):
    """A left-to-right classifier of three labels, saved in `model`."""
    config = tiny_config(vocab_size=1600)
    saved = built(modeling.BertClassifier(config, 3, left_to_right=True))
    modeling.save_release(
        saved,
        tmp_path / "model",
        tokenizer=FullTokenizer(SAMPLES / "vocab.txt"),
        labels=["a", "b", "c"],
        files={"model.json": MODEL_JSON},
    )
    return saved


def test_a_folder_tells_the_labels_and_the_direction(saved, tmp_path):
    model = modeling.BertClassifier.from_preset(tmp_path / "model")
    assert model.num_labels == 3
    assert model.bert.left_to_right


def test_a_folder_contains_all_weights_of_a_model(saved, tmp_path):
    model = modeling.BertClassifier.from_preset(tmp_path / "model")
    weights = zip(model.weights, saved.weights, strict=True)
    assert all((one.numpy() == other.numpy()).all() for one, other in weights)


@pytest.mark.usefixtures("saved")
def test_a_folder_contains_the_tokenizer_of_a_model(tmp_path):
    tokenizer = FullTokenizer.from_preset(tmp_path / "model")
    assert tokenizer.do_lower_case
    assert len(tokenizer.tokens) == 1600


def test_another_head_starts_at_random(caplog):
    model = modeling.BertClassifier.from_preset(RECORDED, num_labels=2)
    assert model.num_labels == 2
    assert "output_weights" in caplog.text
    encoder = modeling.BertModel.from_preset(RECORDED, trim_padding=True)
    assert encoder.trim_padding
    weights = zip(encoder.weights, model.bert.weights, strict=True)
    assert all((one.numpy() == other.numpy()).all() for one, other in weights)


def test_weights_without_a_head_do_not_tell_the_number_of_labels():
    with pytest.raises(ValueError, match=r"Pass num_labels=N for a new head"):
        modeling.BertClassifier.from_preset(RECORDED)


def test_the_number_of_labels_is_that_of_the_weights(tmp_path):
    saved = built(modeling.BertTokenClassifier(tiny_config(), 5))
    modeling.save_huggingface(saved, tmp_path / "model")
    model = modeling.BertTokenClassifier.from_preset(tmp_path / "model")
    assert model.num_labels == 5


class OwnEmbedder(modeling.BertEmbedder):
    """A user's subclass."""


@pytest.fixture
def pools_otherwise(tmp_path):
    """The folder of an encoder whose first vector is its embedding."""
    folder = shutil.copytree(RECORDED, tmp_path / "model")
    (folder / "1_Pooling").mkdir()
    config = json.dumps({POOLING: True})
    (folder / "1_Pooling/config.json").write_text(config)
    return folder


@pytest.mark.parametrize(
    "keras_class", [modeling.BertModel, modeling.BertEmbedder, OwnEmbedder]
)
def test_an_embedder_is_warned_of_another_pooling(
    pools_otherwise, keras_class, caplog
):
    keras_class.from_preset(pools_otherwise)
    assert POOLING in caplog.text


def test_a_classifier_is_not_warned_of_another_pooling(pools_otherwise, caplog):
    modeling.BertClassifier.from_preset(pools_otherwise, num_labels=2)
    # The folder has no head. Nothing is said of the pooling.
    (warning,) = logged_warnings(caplog)
    assert "output_bias" in warning


@pytest.mark.parametrize("kind", [modeling.BertModel, FullTokenizer])
def test_a_folder_without_a_model_is_named(tmp_path, kind):
    with pytest.raises(FileNotFoundError, match=str(tmp_path)):
        kind.from_preset(tmp_path)


@pytest.fixture
def both_formats(tmp_path):
    """A folder of two models: in config.json, "gelu" is another function."""
    exact = dataclasses.replace(tiny_config(), hidden_act="gelu_erf")
    saved = built(modeling.BertClassifier(exact, 2))
    modeling.save_huggingface(saved, tmp_path / "model")
    modeling.save_release(
        built(modeling.BertClassifier(tiny_config(), 2)), tmp_path / "google"
    )
    for file in (tmp_path / "google").iterdir():
        shutil.copy(file, tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("", "gelu_erf"),
        ("model.safetensors", "gelu_erf"),
        ("bert_model.ckpt", "gelu"),
    ],
)
def test_the_configuration_belongs_to_the_weights_that_are_read(
    both_formats, name, activation
):
    model = modeling.BertClassifier.from_preset(both_formats / name)
    assert model.config.hidden_act == activation


def test_the_configuration_of_a_folder_is_that_of_its_weights(both_formats):
    exact = dataclasses.replace(tiny_config(), hidden_act="gelu_erf")
    assert modeling.load_config(both_formats) == exact


def test_weights_without_their_configuration_are_not_read(both_formats):
    (both_formats / "config.json").unlink()
    model = modeling.BertClassifier.from_preset(both_formats)
    assert model.config.hidden_act == "gelu"


def test_from_preset_looks_for_the_weights_once(tmp_path, caplog):
    saved = built(modeling.BertClassifier(tiny_config(), 2))
    described = MODEL_JSON.replace('"version"', '"best_step": 7, "version"')
    modeling.save_release(
        saved, tmp_path / "model", files={"model.json": described}
    )
    modeling.BertClassifier.from_preset(tmp_path / "model")
    assert caplog.text.count("best step, 7, is missing") == 1
