"""Presets for KerasHub, by save_kerashub and tools.convert_checkpoint.

test_converted_checkpoint_kerashub.py reads recorded presets, and
test_kerashub_writer_outputs.py compares with KerasHub itself.
"""

import dataclasses
import json
import resource

import h5py
import numpy as np
import pytest

import modeling
from data.text.tokenization import FullTokenizer
from files.json_files import read_json
from model_folders.kinds import ModelClass
from model_folders.reading.preset import read_preset
from modeling.checkpoints.variables import google_name_of
from tests.support.models import built, tiny_config
from tests.support.output_files import snapshot
from tests.support.paths import ROOT, SAMPLES
from tests.support.weights.kerashub_presets import (
    CONFIG,
    LABELS,
    create_perturbed,
    write_preset,
    write_release,
)

RECORDED = ROOT / "tests/testdata/weights/kerashub/classifier"
CLASSIFIER_FILES = {
    "README.md",
    "assets/tokenizer/vocabulary.txt",
    "config.json",
    "labels.txt",
    "metadata.json",
    "model.json",
    "model.weights.h5",
    "preprocessor.json",
    "task.json",
    "task.weights.h5",
    "tokenizer.json",
}
TASK_FILES = {
    "labels.txt",
    "preprocessor.json",
    "task.json",
    "task.weights.h5",
}


def list_files(folder):
    """Returns the paths of all files in a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in files}


def check_equal(model, other):
    """Compares the weights of two models to the bit."""
    weights, other_weights = (
        {google_name_of(weight): weight.numpy() for weight in compared.weights}
        for compared in (model, other)
    )
    assert weights.keys() == other_weights.keys()
    for name, value in weights.items():
        np.testing.assert_array_equal(value, other_weights[name])


def read_layers(path):
    """Returns {name: value} of the weights of layers in an HDF5 file."""
    values = {}

    def add(name, value):
        if isinstance(value, h5py.Dataset) and name.startswith("layers/"):
            values[name] = value[()]

    with h5py.File(path) as file:
        file.visititems(add)
    return values


@pytest.fixture(params=[True, False], ids=["uncased", "cased"])
def lower_case(request):
    """Whether the model of `classifier` lower-cases text."""
    return request.param


@pytest.fixture
def classifier():
    """A classifier of three labels."""
    return create_perturbed(modeling.BertClassifier, 3)


@pytest.fixture
def source(classifier, lower_case, tmp_path):
    """A folder with the classifier in Google's format."""
    return write_release(
        tmp_path / "tf1",
        classifier,
        LABELS,
        lower_case,
        output_mode="classification",
        max_seq_length=20,
    )


@pytest.fixture
def preset(source, tmp_path):
    """The same classifier as a preset, which replaces an earlier one."""
    for _ in range(2):
        write_preset(source, tmp_path / "preset")
    return tmp_path / "preset"


def test_a_classifier_comes_back_equal_to_the_bit(classifier, preset):
    assert list_files(preset) == CLASSIFIER_FILES
    check_equal(classifier, modeling.BertClassifier.from_preset(preset))


def test_labels_casing_length_and_vocabulary_come_back(
    source, preset, lower_case
):
    saved = read_preset(preset)
    assert (saved.model_class, saved.labels) == (ModelClass.CLASSIFIER, LABELS)
    assert saved.do_lower_case is lower_case
    assert saved.head_settings["max_seq_length"] == 20
    vocabulary = (source / "vocab.txt").read_bytes()
    assert FullTokenizer.from_preset(preset).vocabulary.contents == vocabulary


def test_the_configuration_comes_back_but_for_the_initializer_range(preset):
    """KerasHub has no entry for the range, which only new weights need."""
    config = dataclasses.replace(CONFIG, initializer_range=0.02)
    assert modeling.load_config(preset) == config


def test_kerashub_reads_the_length_of_the_inputs(preset):
    preprocessor = read_json(preset / "preprocessor.json")["config"]
    assert preprocessor["sequence_length"] == 20


def test_a_folder_without_our_own_files_is_a_preset_of_kerashub(
    classifier, preset, lower_case
):
    for name in ("model.json", "labels.txt"):
        (preset / name).unlink()
    check_equal(classifier, modeling.BertClassifier.from_preset(preset))
    assert read_preset(preset).do_lower_case is lower_case


def test_an_encoder_comes_back_equal_to_the_bit(tmp_path):
    model = create_perturbed(modeling.BertModel)
    write_preset(write_release(tmp_path / "tf1", model), tmp_path / "preset")
    assert list_files(tmp_path / "preset") == CLASSIFIER_FILES - TASK_FILES
    check_equal(model, modeling.BertModel.from_preset(tmp_path / "preset"))
    saved = read_preset(tmp_path / "preset")
    assert saved.model_class == ModelClass.ENCODER


def test_a_model_can_be_saved_before_its_first_call(tmp_path):
    model = modeling.BertClassifier(CONFIG, num_labels=3)
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    modeling.save_kerashub(model, tmp_path / "preset", tokenizer=tokenizer)
    copy = modeling.BertClassifier.from_preset(tmp_path / "preset")
    check_equal(copy, model)


@pytest.fixture
def pretrainer():
    """A model for pretraining, with a head that KerasHub does not have."""
    return create_perturbed(modeling.BertPretrainer)


@pytest.fixture
def pretrainer_release(pretrainer, tmp_path):
    """A folder with the pretrainer in Google's format."""
    return write_release(tmp_path / "tf1", pretrainer)


def test_the_encoder_of_a_pretrained_model_is_saved(
    pretrainer, pretrainer_release, tmp_path
):
    write_preset(pretrainer_release, tmp_path / "preset", model="bert")
    copy = modeling.BertModel.from_preset(tmp_path / "preset")
    check_equal(pretrainer.bert, copy)


def test_an_encoder_is_saved_with_new_words(pretrainer_release, tmp_path):
    words = (pretrainer_release / "vocab.txt").read_bytes()
    extended = tmp_path / "extended.txt"
    extended.write_bytes(words + b"boatboat\n")
    options = {"model": "bert", "extended_vocab_file": str(extended)}
    write_preset(pretrainer_release, tmp_path / "preset", **options)
    config = modeling.load_config(tmp_path / "preset")
    assert config.vocab_size == CONFIG.vocab_size + 1


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    """The recorded preset of KerasHub, read and written again."""
    preset = tmp_path_factory.mktemp("rewritten") / "preset"
    write_preset(RECORDED, preset)
    return preset


@pytest.mark.parametrize("name", ["model.weights.h5", "task.weights.h5"])
def test_the_weights_are_those_that_kerashub_writes(rewritten, name):
    expected, written = (
        read_layers(RECORDED / name),
        read_layers(rewritten / name),
    )
    assert written.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_array_equal(written[key], value)


@pytest.mark.parametrize(
    "name", ["config", "task", "tokenizer", "preprocessor"]
)
def test_the_json_files_are_those_that_kerashub_writes(rewritten, name):
    """Except for one entry: the recorded preset does not strip accents."""
    recorded = (RECORDED / f"{name}.json").read_text()
    expected = recorded.replace(
        '"strip_accents": false', '"strip_accents": true'
    )
    assert read_json(rewritten / f"{name}.json") == json.loads(expected)


def test_the_metadata_has_the_entries_of_kerashub_except_the_date(rewritten):
    recorded = read_json(RECORDED / "metadata.json")
    written = read_json(rewritten / "metadata.json")
    assert written.keys() == recorded.keys() - {"date_saved"}


def test_the_dropout_for_kerashub_is_that_of_the_head(rewritten):
    task = read_json(rewritten / "task.json")["config"]
    assert task["dropout"] == modeling.BertClassifier.head_dropout_prob


@pytest.mark.parametrize(
    ("mode", "num_labels", "activation"),
    [
        ("classification", 3, "linear"),
        ("regression", 1, "linear"),
        ("multilabel", 3, "sigmoid"),
    ],
)
def test_the_output_mode_comes_back(tmp_path, mode, num_labels, activation):
    model = create_perturbed(modeling.BertClassifier, num_labels)
    source = write_release(tmp_path / "tf1", model, output_mode=mode)
    write_preset(source, tmp_path / "preset")
    task = read_json(tmp_path / "preset/task.json")["config"]
    assert task["activation"] == activation
    saved = read_preset(tmp_path / "preset")
    assert saved.head_settings["output_mode"] == mode


def test_a_preset_without_model_json_tells_several_labels_from_one(tmp_path):
    model = create_perturbed(modeling.BertClassifier, 3)
    source = write_release(tmp_path / "tf1", model, output_mode="multilabel")
    write_preset(source, tmp_path / "preset")
    (tmp_path / "preset/model.json").unlink()
    settings = read_preset(tmp_path / "preset").head_settings
    assert settings["output_mode"] == "multilabel"


@pytest.mark.parametrize(
    ("keras_class", "arguments", "changes", "says"),
    [
        (modeling.BertPretrainer, (), {}, "BertPretrainer does.*--model=bert"),
        (modeling.BertSpanLabeler, (), {}, "BertSpanLabeler"),
        (modeling.BertTokenClassifier, (3,), {}, "BertTokenClassifier"),
        (modeling.BertMultipleChoice, (), {}, "BertMultipleChoice"),
        (modeling.BertModel, (), {"hidden_act": "gelu_erf"}, "'gelu_erf'"),
        (modeling.BertModel, (), {"hidden_act": None}, "hidden_act.*None"),
        (modeling.BertModel, (), {"layer_norm_eps": 1e-5}, "1e-05"),
        (
            modeling.BertClassifier,
            (3,),
            {"attention_probs_dropout_prob": 0.2},
            "attention_probs_dropout_prob=0.1, .* has 0.2",
        ),
    ],
)
def test_a_network_that_kerashub_cannot_compute_is_refused(
    tmp_path, keras_class, arguments, changes, says
):
    config = tiny_config(vocab_size=1600, **changes)
    model = built(keras_class(config, *arguments))
    source = write_release(tmp_path / "tf1", model)
    with pytest.raises(ValueError, match=f"^KerasHub's BERT [^\n]*{says}"):
        write_preset(source, tmp_path / "preset")
    assert list_files(tmp_path) == {
        f"tf1/{name}" for name in list_files(source)
    }


@pytest.fixture
def check_refused(tmp_path):
    """(message, model) -> checks that no preset of the model is written."""
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")

    def check_refused(says, model, **options):
        with pytest.raises(ValueError, match=says):
            modeling.save_kerashub(
                model, tmp_path / "preset", tokenizer=tokenizer, **options
            )
        assert not list_files(tmp_path)

    return check_refused


def test_a_bilstm_is_refused(check_refused):
    model = create_perturbed(modeling.BertClassifier, 2, bilstm=True)
    check_refused("--bilstm", model)


@pytest.mark.parametrize(
    ("keras_class", "sizes"),
    [(modeling.BertModel, []), (modeling.BertClassifier, [2])],
)
def test_a_left_to_right_network_is_refused(check_refused, keras_class, sizes):
    model = create_perturbed(keras_class, *sizes, left_to_right=True)
    check_refused("--left_to_right", model)


def test_an_embedder_is_refused(check_refused):
    check_refused("BertEmbedder", create_perturbed(modeling.BertEmbedder))


def test_a_weight_that_kerashub_needs_cannot_be_left_out(check_refused):
    model = create_perturbed(modeling.BertClassifier, 2)
    left_out = ["bert/pooler/dense/kernel"]
    check_refused("needs bert/pooler", model, leave_out=left_out)


def test_labels_for_kerashub_are_as_many_as_the_outputs(check_refused):
    model = create_perturbed(modeling.BertClassifier, 2)
    check_refused("`labels` must name 2", model, labels=LABELS)


def test_the_vocabulary_for_kerashub_fits_the_model(check_refused):
    check_refused(
        "1600", create_perturbed(modeling.BertModel, config=tiny_config())
    )


def test_files_of_a_user_are_kept(tmp_path):
    source = write_release(
        tmp_path / "tf1", create_perturbed(modeling.BertModel)
    )
    preset = tmp_path / "preset"
    write_preset(source, preset)
    (preset / "assets/tokenizer/mine.txt").write_text("mine")
    before = snapshot(preset)
    with pytest.raises(ValueError, match=r"mine\.txt"):
        write_preset(source, preset)
    assert snapshot(preset) == before


def test_a_full_disk_changes_no_file(tmp_path):
    model = create_perturbed(modeling.BertModel)
    preset = tmp_path / "preset"
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    modeling.save_kerashub(model, preset, tokenizer=tokenizer)
    before = snapshot(tmp_path)
    size = (preset / "model.weights.h5").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # HDF5 fails where it writes values, or where it closes the file.
    for limit in (13_000, size // 2, size - 1):
        # Python ignores the signal.
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
        try:
            with pytest.raises(OSError, match=r"^.*too large: .*preset'$"):
                modeling.save_kerashub(model, preset, tokenizer=tokenizer)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert snapshot(tmp_path) == before
