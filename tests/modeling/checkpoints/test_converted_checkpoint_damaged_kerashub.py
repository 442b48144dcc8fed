"""Presets of KerasHub that are damaged, or of another model, are named."""

import h5py
import numpy as np
import pytest

import modeling
from tests.support.weights.kerashub_presets import (
    QUERY,
    change_json,
    copy_backbone,
    copy_recorded,
)
from tests.support.weights.odd_datasets import ODD_DATASETS


@pytest.fixture
def classifier(tmp_path):
    """A copy of the recorded preset of a classifier."""
    return copy_recorded(tmp_path / "preset")


@pytest.fixture
def backbone(tmp_path):
    """A preset that contains only the backbone."""
    return copy_backbone(tmp_path / "preset")


@pytest.mark.parametrize(
    ("file", "entries", "says"),
    [
        (
            "config.json",
            {
                "class_name": "RobertaBackbone",
                "registered_name": "keras_hub>RobertaBackbone",
            },
            "RobertaBackbone",
        ),
        ("config.json", {"registered_name": "own>BertBackbone"}, "own>"),
        ("config.json", {"config": [1]}, "`config` must be"),
        ("config.json", {"hidden_dim": "wide"}, "config.json: .*hidden_size"),
        ("config.json", {"num_layers": 1_000_000}, "3 blocks"),
        ("config.json", {"vocabulary_size": 10**9}, "reversible_embedding"),
        ("config.json", {"num_heads": 8}, "key_dense"),
        ("task.json", {"num_classes": 10**9}, "dense/vars/0"),
        ("task.json", {"num_classes": None}, "num_classes"),
        ("task.json", {"class_name": "Own"}, "task.json describes"),
        ("preprocessor.json", {"sequence_length": "5"}, "sequence_length"),
        ("preprocessor.json", {"sequence_length": 2}, "sequence_length"),
        ("preprocessor.json", {"config": [1]}, "preprocessor.json must"),
        ("tokenizer.json", {"class_name": "BytePair"}, "tokenizer.json"),
        ("tokenizer.json", {"suffix_indicator": "@@"}, "suffix_indicator"),
        ("tokenizer.json", {"lowercase": 1}, "lowercase"),
    ],
)
def test_an_entry_of_another_model_is_named(classifier, file, entries, says):
    change_json(classifier / file, **entries)
    with pytest.raises(ValueError, match=f"^[^\n]*{says}[^\n]*$"):
        modeling.BertClassifier.from_preset(classifier)


@pytest.mark.parametrize(("change", "says"), ODD_DATASETS)
def test_a_dataset_that_is_stored_in_an_odd_way_is_named(
    backbone, change, says
):
    with h5py.File(backbone / "model.weights.h5", "r+") as file:
        change(file, QUERY)
    with pytest.raises(ValueError, match=f"^[^\n]*{says}[^\n]*$") as caught:
        modeling.BertModel.from_preset(backbone)
    assert str(backbone) in str(caught.value)


def store_compressed(file, name):
    file.create_dataset(name, data=np.zeros((32, 4, 8)), compression="gzip")


def store_integers(file, name):
    file[name] = np.zeros((32, 4, 8), "int8")


def store_another_shape(file, name):
    file[name] = np.zeros((32, 4, 9), "float32")


def store_more(file, name):
    file["layers/lora/vars/0"] = np.zeros((3, 5), "float32")


def store_less(file, name):
    pass


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (store_compressed, "in chunks"),
        (store_integers, "int8"),
        (store_another_shape, r"\[32, 4, 9\]"),
        (store_more, r"lora/vars/0 of the shape \[3, 5\]"),
        (store_less, r"query_dense/vars/0 of the shape \[32, 4, 8\]"),
    ],
)
def test_a_dataset_that_cannot_be_read_is_named(backbone, change, says):
    with h5py.File(backbone / "model.weights.h5", "r+") as file:
        del file[QUERY]
        change(file, QUERY)
    with pytest.raises(ValueError, match=f"^[^\n]*{says}[^\n]*$") as caught:
        modeling.BertModel.from_preset(backbone)
    assert str(backbone) in str(caught.value)


# {id: function that damages the content of a file}
DAMAGE = {
    # The name of a group is no text.
    "a name": lambda content: content.replace(b"dense\0", b"\xffense\0"),
    "few bytes": lambda content: content[:100],
    "without its end": lambda content: content[:-2000],
    "a text": lambda content: b"not HDF5",
    "empty": lambda content: b"",
}
WEIGHTS = pytest.mark.parametrize(
    "name", ["model.weights.h5", "task.weights.h5"]
)


@WEIGHTS
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_named(classifier, name, damage):
    path = classifier / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(OSError, match=f"^[^\n]*{name}[^\n]*$"):
        modeling.BertClassifier.from_preset(classifier)


@WEIGHTS
def test_a_missing_file_is_named(classifier, name):
    (classifier / name).unlink()
    with pytest.raises(FileNotFoundError, match=name):
        modeling.BertClassifier.from_preset(classifier)
