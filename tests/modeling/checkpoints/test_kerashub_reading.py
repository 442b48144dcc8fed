"""Presets of KerasHub.

KerasHub 0.32 wrote the classifier in tests/testdata/weights/kerashub, with
random weights, and computed out.npz (its backbone) and out_c.npz of in.npz.

model_folders/kerashub_files.py reads their JSON files,
model_folders/weights/h5_files.py reads their weights, and
model_folders/weights/kerashub_targets.py finds the variables for these.
model_folders/weights/kerashub_weights.py gives the weights Google's names.
"""

import json
import shutil

import h5py
import ml_dtypes
import numpy as np
import pytest

import modeling
from data.text.tokenization import FullTokenizer
from model_folders import kinds, presets
from modeling.checkpoints.names import original_name
from tests.support import weights_fuzz
from tests.support.conversions import convert
from tests.support.golden import ROOT
from tests.support.kinds import assert_close
from tests.support.odd_datasets import ODD_DATASETS
from tests.support.script_runner import run
from training.run import fingerprints

RECORDED = ROOT / "tests/testdata/weights/kerashub"
INPUTS = np.load(RECORDED / "in.npz")
FEATURES = {
    "input_ids": INPUTS["ids"],
    "input_mask": INPUTS["mask"],
    "segment_ids": INPUTS["seg"],
}
QUERY = "layers/transformer_encoder/_self_attention_layer/query_dense/vars/0"
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
    return shutil.copytree(RECORDED / "classifier", tmp_path / "preset")


@pytest.fixture
def backbone(classifier):
    """A preset that contains only the backbone."""
    for name in ("task.json", "task.weights.h5", "preprocessor.json"):
        (classifier / name).unlink()
    return classifier


@pytest.fixture
def masked_lm(classifier):
    """A preset of a BertMaskedLM, and its head's values."""
    edit(classifier / "task.json", class_name="BertMaskedLM")
    edit(classifier / "task.json", registered_name="keras_hub>BertMaskedLM")
    random = np.random.default_rng(0)
    values = {
        name: random.normal(size=shape).astype("float32")
        for name, shape in MASKED_LM.items()
    }
    with h5py.File(classifier / "task.weights.h5", "w") as file:
        for name, value in values.items():
            file[f"layers/masked_lm_head/{name}"] = value
    return classifier, values


def edit(path, **entries):
    """Changes entries of a JSON file, or of its `config`."""
    values = json.loads(path.read_text())
    for name, value in entries.items():
        place = values if name in values else values["config"]
        place[name] = value
    path.write_text(json.dumps(values))


def test_a_backbone_computes_what_kerashub_computes(backbone):
    model = modeling.BertModel.from_preset(backbone)
    outputs = model(*FEATURES.values())
    recorded = np.load(RECORDED / "out.npz")
    for name in ("sequence_output", "pooled_output"):
        assert_close(outputs[name], recorded[name], tolerance=1e-5)


def test_a_classifier_computes_what_kerashub_computes(classifier):
    logits = np.load(RECORDED / "out_c.npz")["logits"]
    for path in (classifier, classifier / "task.weights.h5"):
        model = modeling.BertClassifier.from_preset(path)
        assert_close(model(FEATURES), logits, tolerance=1e-5)


def test_the_head_of_a_masked_lm_is_loaded(masked_lm):
    folder, values = masked_lm
    assert presets.read_preset(folder).head == kinds.PRETRAINER
    model = modeling.BertPretrainer.from_preset(folder)
    named = {original_name(weight): weight.numpy() for weight in model.weights}
    names = ("dense/kernel", "dense/bias", "LayerNorm/gamma", "LayerNorm/beta")
    names = [f"transform/{name}" for name in names] + ["output_bias"]
    for name, value in zip(names, values.values(), strict=True):
        assert (named[f"cls/predictions/{name}"] == value).all()


def test_a_preset_states_the_network(classifier):
    assert presets.read_preset(classifier).load_config() == modeling.BertConfig(
        vocab_size=1600,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        hidden_act="gelu",
        max_position_embeddings=48,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
    )


def test_a_preset_states_the_head(classifier):
    assert presets.read_preset(classifier).head == kinds.CLASSIFIER


def test_a_preset_states_the_vocabulary(classifier):
    vocab_file = classifier / "assets/tokenizer/vocabulary.txt"
    assert presets.read_preset(classifier).vocab_file == str(vocab_file)
    tokenizer = FullTokenizer.from_preset(classifier)
    assert tokenizer.vocab_bytes == vocab_file.read_bytes()


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_preset_states_the_casing(classifier, lowercase):
    edit(classifier / "tokenizer.json", lowercase=lowercase)
    assert presets.read_preset(classifier).do_lower_case is lowercase
    tokenizer = FullTokenizer.from_preset(classifier)
    assert tokenizer.do_lower_case is lowercase


def test_weights_in_several_files_are_loaded(classifier):
    index = weights_fuzz.write_kerashub_shards(classifier)
    logits = np.load(RECORDED / "out_c.npz")["logits"]
    for path in (classifier, index, classifier / "task.weights.h5"):
        assert modeling.find_checkpoint(path) == str(index)
        model = modeling.BertClassifier.from_preset(path)
        assert_close(model(FEATURES), logits, tolerance=1e-5)
    before = fingerprints.fingerprint_checkpoint(str(classifier))
    assert "model_00001.weights.h5" in [name for name, *_ in before]
    # Only the file that the index lists counts.
    part = classifier / "model_00000.weights.h5"
    name = "layers/embedding/vars/0"
    values = json.loads(index.read_text())
    listed = values["weight_map"]["/layers/embedding/vars"]
    (other,) = {"model_00000.weights.h5", "model_00001.weights.h5"} - {listed}
    with h5py.File(classifier / other, "r+") as file:
        file[name] = np.zeros((2, 32), "float32")
    model = modeling.BertClassifier.from_preset(classifier)
    assert_close(model(FEATURES), logits, tolerance=1e-5)
    assert fingerprints.fingerprint_checkpoint(str(classifier)) != before
    part.unlink()
    with pytest.raises(OSError, match=f"{part}"):
        modeling.find_checkpoint(classifier)


@pytest.mark.parametrize(
    "places, says",
    [
        ([1], "weight_map. must be an object"),
        ({"/a": "../model.weights.h5"}, "must list a .* for /a"),
        ({"/a": [5]}, "must list a .* for /a"),
    ],
)
def test_an_index_that_is_no_map_of_files_is_named(classifier, places, says):
    index = weights_fuzz.write_kerashub_shards(classifier)
    index.write_text(json.dumps({"weight_map": places}))
    with pytest.raises(ValueError, match=says) as caught:
        modeling.find_checkpoint(classifier)
    assert "\n" not in str(caught.value)


def test_a_file_that_lacks_what_the_index_lists_is_named(classifier):
    index = weights_fuzz.write_kerashub_shards(classifier)
    places = {"/a": "model_00000.weights.h5"}
    index.write_text(json.dumps({"weight_map": places}))
    says = r"^[^\n]*model_00000[^\n]* lacks a, which[^\n]*$"
    with pytest.raises(OSError, match=says):
        modeling.find_checkpoint(classifier)


def test_a_preset_states_the_length_of_the_inputs(classifier):
    settings = presets.read_preset(classifier).head_settings
    assert settings == {"max_seq_length": 16}


def test_another_length_of_the_inputs_is_the_limit(classifier):
    edit(classifier / "preprocessor.json", sequence_length=7)
    preset = presets.read_preset(classifier)
    assert preset.head_settings == {"max_seq_length": 7}
    assert preset.max_length(kinds.CLASSIFIER, 48) == 7


def test_the_length_of_the_inputs_is_at_most_that_of_the_network(classifier):
    # KerasHub's default.
    edit(classifier / "preprocessor.json", sequence_length=512)
    settings = presets.read_preset(classifier).head_settings
    assert settings == {"max_seq_length": 48}


def test_inputs_without_a_length_have_that_of_the_network(classifier):
    file = classifier / "preprocessor.json"
    values = json.loads(file.read_text())
    del values["config"]["sequence_length"]
    file.write_text(json.dumps(values))
    settings = presets.read_preset(classifier).head_settings
    assert settings == {"max_seq_length": 48}


def test_a_preset_without_a_preprocessor_states_no_length(classifier):
    (classifier / "preprocessor.json").unlink()
    assert not presets.read_preset(classifier).head_settings


def test_a_preset_that_keeps_accents_is_warned_of(classifier, caplog):
    presets.read_preset(classifier)
    assert "keeps the accents" in caplog.text
    caplog.clear()
    # It is said once, so the second preset has another path.
    folder = classifier.rename(classifier.with_name("other"))
    edit(folder / "tokenizer.json", strip_accents=True)
    presets.read_preset(folder)
    assert not caplog.text


def test_an_embedder_states_how_it_pools(classifier):
    edit(
        classifier / "task.json",
        class_name="BertTextEmbedder",
        registered_name="keras_hub>BertTextEmbedder",
        pooling_mode="cls",
    )
    preset = presets.read_preset(classifier)
    assert (preset.head, preset.pooling) == (kinds.ENCODER, "pooling by cls")
    modeling.BertModel.from_preset(classifier)


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


@pytest.mark.parametrize(
    "file, entries, says",
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
    edit(classifier / file, **entries)
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


def compress(file, name):
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
    "change, says",
    [
        (compress, "in chunks"),
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


def test_the_vocabulary_is_not_in_tokenizer_json(classifier):
    (classifier / "assets/tokenizer/vocabulary.txt").unlink()
    with pytest.raises(ValueError, match="assets/tokenizer"):
        FullTokenizer.from_preset(classifier)


@pytest.fixture
def train(classifier, tmp_path):
    """Runs run_classifier.py on a small table, from the preset."""
    rows = [
        f"word {number % 7} boat,{'abc'[number % 3]}\n" for number in range(40)
    ]
    (tmp_path / "t.csv").write_text("text,label\n" + "".join(rows))

    def train(**flags):
        return run(
            "run_classifier",
            tmp_path,
            data_file="t.csv",
            init_checkpoint=classifier,
            output_dir="run",
            num_train_epochs=1,
            train_batch_size=8,
            **flags,
        )

    return train


def test_training_starts_from_a_preset(train):
    train().check()


def test_a_preset_may_be_the_teacher(train, classifier):
    train(teacher=classifier).check()


def test_a_teacher_without_the_blocks_that_it_states_is_refused(
    train, classifier, tmp_path
):
    large = shutil.copytree(classifier, tmp_path / "large")
    edit(large / "config.json", num_layers=1_000_000)
    assert "contains 3 blocks" in train(teacher=large).error


def test_a_preset_is_exported(classifier, tmp_path):
    run("tools.export", tmp_path, model=classifier, export_dir="export").check()


@pytest.mark.parametrize("output_format", ["tf1", "huggingface", "kerashub"])
def test_a_preset_is_converted(output_format, classifier, tmp_path):
    convert(classifier, tmp_path / "out", output_format=output_format)
    model = modeling.BertClassifier.from_preset(tmp_path / "out")
    recorded = np.load(RECORDED / "out_c.npz")["logits"]
    assert_close(model(FEATURES), recorded, tolerance=1e-5)
    tokenizer = FullTokenizer.from_preset(tmp_path / "out")
    assert tokenizer.do_lower_case and len(tokenizer.tokens) == 1600
