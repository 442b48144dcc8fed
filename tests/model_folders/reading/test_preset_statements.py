"""The statements of a folder of weights, whoever wrote it.

test_preset_odd_entries.py tries entries of any type in each file.
"""

import json

import pytest

from model_folders.formats.huggingface_config import CLASS_OF_ARCHITECTURE
from model_folders.reading.preset import Preset, read_preset
from tests.support.models import tiny_config
from tests.support.paths import ROOT


def write_files(folder, files):
    """Writes {name: contents}, as text or as JSON, below a folder."""
    for name, contents in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_text = isinstance(contents, str)
        path.write_text(contents if is_text else json.dumps(contents))


def read_files(folder, files):
    """Writes {name: contents}, and returns the Preset of the folder."""
    write_files(folder, files)
    return read_preset(folder)


def model_json(task=None, **settings):
    """Returns the contents of a model.json."""
    return {
        "version": 1,
        "task": task or {},
        "origin": {"settings": settings},
    }


def huggingface_config(**entries):
    """Returns the contents of a config.json as transformers writes it."""
    return {**tiny_config().to_dict(), "model_type": "bert", **entries}


def kerashub_object(name, **config):
    """Returns an object as KerasHub writes it."""
    return {
        "class_name": name,
        "registered_name": f"keras_hub>{name}",
        "config": config,
    }


# {what a file states: (file, its contents, attribute, value)}.
STATEMENTS = {
    "class of model.json": (
        "model.json",
        model_json({"name": "BertClassifier"}),
        "model_class",
        "BertClassifier",
    ),
    "class of a user": (
        "model.json",
        model_json({"name": "MyClassifier"}),
        "model_class",
        "MyClassifier",
    ),
    "class of config.json": (
        "config.json",
        huggingface_config(architectures=["BertForTokenClassification"]),
        "model_class",
        "BertTokenClassifier",
    ),
    "class of KerasHub": (
        "config.json",
        kerashub_object("BertBackbone"),
        "model_class",
        "BertModel",
    ),
    "casing of model.json": (
        "model.json",
        model_json(tokenizer={"do_lower_case": False}),
        "do_lower_case",
        False,
    ),
    "casing of tokenizer_config.json": (
        "tokenizer_config.json",
        {"do_lower_case": False},
        "do_lower_case",
        False,
    ),
    "casing of tokenizer.json": (
        "tokenizer.json",
        {
            "normalizer": {"type": "BertNormalizer", "lowercase": False},
            "model": {"type": "WordPiece", "vocab": {"[CLS]": 0}},
        },
        "do_lower_case",
        False,
    ),
    "labels of labels.txt": (
        "labels.txt",
        "no\nyes\n",
        "labels",
        ["no", "yes"],
    ),
    "labels of config.json": (
        "config.json",
        huggingface_config(id2label={"1": "yes", "0": "no"}),
        "labels",
        ["no", "yes"],
    ),
    "names of transformers are no labels": (
        "config.json",
        huggingface_config(id2label={"0": "LABEL_0", "1": "LABEL_1"}),
        "labels",
        None,
    ),
    "labels of the head": (
        "model.json",
        model_json({"labels": ["no", "yes"]}),
        "labels",
        ["no", "yes"],
    ),
    "labels of the run": (
        "model.json",
        model_json(labels=["no", "yes"]),
        "labels",
        ["no", "yes"],
    ),
    "pooling of sentence-transformers": (
        "1_Pooling/config.json",
        {"pooling_mode_cls_token": True},
        "pooling",
        "pooling by pooling_mode_cls_token",
    ),
    "an average is no pooling": (
        "1_Pooling/config.json",
        {"pooling_mode_mean_tokens": True},
        "pooling",
        None,
    ),
    "settings of the head": (
        "model.json",
        model_json({"name": "BertClassifier", "output_mode": "multilabel"}),
        "head_settings",
        {
            "output_mode": "multilabel",
            "problem_type": "multi_label_classification",
        },
    ),
    "network of model.json": (
        "model.json",
        model_json(left_to_right=True),
        "network_arguments",
        {"left_to_right": True, "bilstm": False},
    ),
    "contents of model.json": (
        "model.json",
        {"version": 1, "files": ["vocab.txt"]},
        "model_json",
        {"version": 1, "files": ["vocab.txt"]},
    ),
}


@pytest.mark.parametrize(
    ("file", "contents", "attribute", "value"),
    STATEMENTS.values(),
    ids=STATEMENTS,
)
def test_read_preset_finds_the_statement_of_a_file(
    tmp_path, file, contents, attribute, value
):
    preset = read_files(tmp_path, {file: contents})
    assert getattr(preset, attribute) == value


@pytest.mark.parametrize(
    ("architecture", "head"),
    [("BertCrfForTagging", None), *CLASS_OF_ARCHITECTURE.items()],
)
def test_read_preset_finds_the_head_of_an_architecture(
    tmp_path, architecture, head
):
    config = huggingface_config(architectures=[architecture])
    assert read_files(tmp_path, {"config.json": config}).model_class == head


def test_tags_of_a_model_from_elsewhere_need_not_be_legal():
    folder = ROOT / "tests/testdata/huggingface/BertForTokenClassification"
    assert read_preset(folder).head_settings["legal_tags"] is False


def test_read_preset_of_an_empty_folder_states_nothing(tmp_path):
    preset = read_preset(tmp_path, "--init_checkpoint")
    assert preset == Preset(
        folder=str(tmp_path),
        weights_path=str(tmp_path),
        source=f"--init_checkpoint={tmp_path}",
    )
    assert preset.do_lower_case is None
    assert preset.load_config() is None


BERT_CONFIG = tiny_config().to_dict()
GOOGLES = "bert_config.json"
HUGGINGFACES = "config.json"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param([GOOGLES], GOOGLES, id="Google's"),
        pytest.param([HUGGINGFACES], HUGGINGFACES, id="Hugging Face's"),
        pytest.param([GOOGLES, HUGGINGFACES], GOOGLES, id="no weights"),
        pytest.param(
            [GOOGLES, HUGGINGFACES, "model.safetensors"],
            HUGGINGFACES,
            id="Hugging Face's weights",
        ),
    ],
)
def test_read_preset_prefers_the_configuration_of_the_weights(
    tmp_path, files, found
):
    preset = read_files(tmp_path, dict.fromkeys(files, BERT_CONFIG))
    assert preset.config_file == str(tmp_path / found)


KERASHUBS_VOCABULARY = "assets/tokenizer/vocabulary.txt"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["vocab.txt", "tokenizer.json"], "vocab.txt"),
        ([KERASHUBS_VOCABULARY, "tokenizer.json"], KERASHUBS_VOCABULARY),
        (["tokenizer.json"], "tokenizer.json"),
    ],
    ids=["vocab.txt", "KerasHub's", "tokenizer.json"],
)
def test_read_preset_prefers_vocab_txt_to_other_vocabularies(
    tmp_path, files, found
):
    preset = read_files(tmp_path, dict.fromkeys(files, "{}"))
    assert preset.vocab_file == str(tmp_path / found)


def test_read_preset_prefers_the_class_of_model_json(tmp_path):
    files = {
        "model.json": model_json({"name": "BertClassifier"}),
        "config.json": huggingface_config(architectures=["BertModel"]),
    }
    assert read_files(tmp_path, files).model_class == "BertClassifier"


def test_read_preset_reads_the_first_module_of_sentence_transformers(tmp_path):
    files = {
        "modules.json": [{"path": "0_Transformer"}],
        "0_Transformer/config.json": huggingface_config(),
    }
    preset = read_files(tmp_path, files)
    assert preset.folder == str(tmp_path / "0_Transformer")


def test_read_preset_of_a_checkpoint_reads_its_folder(tmp_path):
    write_files(tmp_path, {"model.ckpt-7.index": "", GOOGLES: BERT_CONFIG})
    preset = read_preset(tmp_path / "model.ckpt-7")
    assert preset.folder == str(tmp_path)
    assert preset.weights_path == str(tmp_path / "model.ckpt-7")
    assert preset.source == preset.weights_path
    assert preset.config_file == str(tmp_path / GOOGLES)


# {what two files contradict each other about: (files, error)}.
CONTRADICTIONS = {
    "casing": (
        {
            "tokenizer_config.json": {"do_lower_case": True},
            "model.json": model_json(tokenizer={"do_lower_case": False}),
        },
        "tokenizer_config.json sets lower-casing to True, but .*model.json to "
        "False",
    ),
    "labels": (
        {
            "labels.txt": "no\nyes\n",
            "config.json": huggingface_config(id2label={"0": "a", "1": "b"}),
        },
        "labels.txt",
    ),
}


@pytest.mark.parametrize(
    ("files", "error"), CONTRADICTIONS.values(), ids=CONTRADICTIONS
)
def test_read_preset_refuses_files_that_contradict_each_other(
    tmp_path, files, error
):
    with pytest.raises(ValueError, match=error):
        read_files(tmp_path, files)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tokenizer.json", '{"normalizer": 5}'),
        ("tokenizer_config.json", '{"extra_special_tokens": [{}]}'),
        ("config.json", '{"architectures": [[]]}'),
        ("config.json", '{"problem_type": ["regression"]}'),
    ],
)
def test_read_preset_refuses_a_value_of_another_type(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=str(tmp_path)):
        read_preset(tmp_path)
