"""Weights of presets of KerasHub compute what KerasHub computed."""

import json

import h5py
import ml_dtypes
import numpy as np
import pytest

import modeling
from model_folders.kinds import ModelClass
from model_folders.reading.preset import read_preset
from modeling.checkpoints.variables import google_name_of
from tests.support.model_cases import assert_close
from tests.support.weights import weights_fuzz
from tests.support.weights.kerashub_presets import (
    FEATURES,
    QUERY,
    RECORDED,
    change_json,
    copy_backbone,
    copy_recorded,
)
from training.run_files import input_fingerprints

MASKED_LM = {
    "_intermediate_dense/vars/0": (32, 32),
    "_intermediate_dense/vars/1": (32,),
    "_intermediate_layer_norm/vars/0": (32,),
    "_intermediate_layer_norm/vars/1": (32,),
    "vars/0": (1600,),
}


@pytest.fixture
def classifier(tmp_path):
    """A copy of the recorded preset of a classifier."""
    return copy_recorded(tmp_path / "preset")


@pytest.fixture
def backbone(tmp_path):
    """A preset that contains only the backbone."""
    return copy_backbone(tmp_path / "preset")


@pytest.fixture
def masked_lm(classifier):
    """A preset of a BertMaskedLM, and its head's values."""
    change_json(classifier / "task.json", class_name="BertMaskedLM")
    change_json(
        classifier / "task.json", registered_name="keras_hub>BertMaskedLM"
    )
    random = np.random.default_rng(0)
    values = {
        name: random.normal(size=shape).astype("float32")
        for name, shape in MASKED_LM.items()
    }
    with h5py.File(classifier / "task.weights.h5", "w") as file:
        for name, value in values.items():
            file[f"layers/masked_lm_head/{name}"] = value
    return classifier, values


def check_logits(path):
    """Compares the outputs of a classifier with the recorded ones."""
    model = modeling.BertClassifier.from_preset(path)
    logits = np.load(RECORDED / "out_c.npz")["logits"]
    assert_close(model(FEATURES), logits, tolerance=1e-5)


def test_a_backbone_computes_what_kerashub_computes(backbone):
    model = modeling.BertModel.from_preset(backbone)
    outputs = model(*FEATURES.values())
    recorded = np.load(RECORDED / "out.npz")
    for name in ("sequence_output", "pooled_output"):
        assert_close(outputs[name], recorded[name], tolerance=1e-5)


@pytest.mark.parametrize("name", ["", "task.weights.h5"])
def test_a_classifier_computes_what_kerashub_computes(classifier, name):
    check_logits(classifier / name)


def test_the_head_of_a_masked_lm_is_loaded(masked_lm):
    folder, values = masked_lm
    assert read_preset(folder).model_class == ModelClass.PRETRAINER
    model = modeling.BertPretrainer.from_preset(folder)
    named = {google_name_of(weight): weight.numpy() for weight in model.weights}
    names = ("dense/kernel", "dense/bias", "LayerNorm/gamma", "LayerNorm/beta")
    names = [f"transform/{name}" for name in names] + ["output_bias"]
    for name, value in zip(names, values.values(), strict=True):
        assert (named[f"cls/predictions/{name}"] == value).all()


@pytest.fixture
def sharded_preset(classifier):
    """(preset whose weights are in several files, the file of their index)."""
    return classifier, weights_fuzz.write_kerashub_shards(classifier)


def zero_unlisted(folder, index):
    """Writes zeros for a weight into the file that does not count for it."""
    weight_map = json.loads(index.read_text())["weight_map"]
    files = {"model_00000.weights.h5", "model_00001.weights.h5"}
    (other,) = files - {weight_map["/layers/embedding/vars"]}
    with h5py.File(folder / other, "r+") as file:
        file["layers/embedding/vars/0"] = np.zeros((2, 32), "float32")


@pytest.mark.parametrize("name", ["", "task.weights.h5"])
def test_weights_in_several_files_are_loaded(sharded_preset, name):
    folder, index = sharded_preset
    assert modeling.find_checkpoint(folder / name) == str(index)
    check_logits(folder / name)


def test_the_index_chooses_between_two_files_with_a_weight(sharded_preset):
    zero_unlisted(*sharded_preset)
    check_logits(sharded_preset[0])


def test_all_files_of_an_index_have_fingerprints(sharded_preset):
    folder, index = sharded_preset
    before = input_fingerprints.fingerprint_checkpoint(str(folder))
    assert "model_00001.weights.h5" in [name for name, *_ in before]
    zero_unlisted(folder, index)
    assert input_fingerprints.fingerprint_checkpoint(str(folder)) != before


def test_a_missing_file_of_the_index_is_named(sharded_preset):
    folder, _ = sharded_preset
    part = folder / "model_00000.weights.h5"
    part.unlink()
    with pytest.raises(OSError, match=f"{part}"):
        modeling.check_checkpoint(folder)


@pytest.mark.parametrize(
    ("places", "says"),
    [
        ([1], "weight_map. must be an object"),
        ({"/a": "../model.weights.h5"}, "must list a .* for /a"),
        ({"/a": [5]}, "must list a .* for /a"),
    ],
)
def test_an_index_that_is_not_a_map_of_files_is_named(classifier, places, says):
    index = weights_fuzz.write_kerashub_shards(classifier)
    index.write_text(json.dumps({"weight_map": places}))
    with pytest.raises(ValueError, match=says) as caught:
        modeling.check_checkpoint(classifier)
    assert "\n" not in str(caught.value)


def test_a_file_without_a_listed_weight_is_named(classifier):
    index = weights_fuzz.write_kerashub_shards(classifier)
    places = {"/a": "model_00000.weights.h5"}
    index.write_text(json.dumps({"weight_map": places}))
    says = r"^[^\n]*model_00000[^\n]* lacks a, which[^\n]*$"
    with pytest.raises(OSError, match=says):
        modeling.check_checkpoint(classifier)


def test_files_of_keras_2_and_of_bfloat16_are_loaded(backbone):
    path = backbone / "model.weights.h5"
    with h5py.File(path, "r+") as file:
        file.move("layers", "_layer_checkpoint_dependencies")
        file["layers/seed_generator/vars/0"] = np.zeros(2, "uint32")
        name = QUERY.replace("layers", "_layer_checkpoint_dependencies")
        value = file[name][()].astype(ml_dtypes.bfloat16)
        del file[name]
        file.create_dataset(name, data=value).attrs["dtype"] = "bfloat16"
    entries = modeling.read_shapes(modeling.find_checkpoint(backbone))
    assert len(entries) == 5 + 2 + 3 * 16
    model = modeling.BertModel.from_preset(backbone)
    outputs = model(*FEATURES.values())["pooled_output"]
    recorded = np.load(RECORDED / "out.npz")["pooled_output"]
    assert_close(outputs, recorded, tolerance=1e-2)
