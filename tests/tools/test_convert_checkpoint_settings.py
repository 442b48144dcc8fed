"""What copies by tools.convert_checkpoint state about a model, beside weights.

They keep its class, its labels, its settings and its network.
"""

import json
import shutil

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from files.json_files import read_json
from model_folders.reading import settings_check
from model_folders.reading.preset import read_preset
from tests.support.checkpoints import convert
from tests.support.models import built, tiny_config
from tests.support.paths import SAMPLES
from tests.support.weights.huggingface_files import (
    LABELS,
    RECORDED,
    TOKENS,
    assert_same_weights,
    write_vocab,
)


def create_with_tokenizer(folder, keras_class, *arguments, **options):
    """Returns a tiny model, and a tokenizer whose vocabulary it has."""
    config = tiny_config(vocab_size=len(TOKENS))
    tokenizer = FullTokenizer(write_vocab(folder / "vocab.txt"))
    return built(keras_class(config, *arguments, **options)), tokenizer


def there_and_back(folder, model, labels, tokenizer, **options):
    """Converts a model to Google's format and back.

    Checks that all weights keep their bits. Returns config.json of the first
    folder and of the last.
    """
    there, back = folder / "there", folder / "back"
    modeling.save_huggingface(
        model, there, tokenizer=tokenizer, labels=labels, **options
    )
    convert(there, folder / "tf1")
    convert(folder / "tf1", back)
    assert_same_weights(back, there)
    return [read_json(path / "config.json") for path in (there, back)]


@pytest.fixture
def multilabel_copies(tmp_path):
    """Folder of a model of several labels, and of its copies.

    `there` and its copy `back` are in Hugging Face's format, `tf1` between them
    is in Google's. `more` is a copy of `there` with an extended vocabulary.
    """
    model, tokenizer = create_with_tokenizer(
        tmp_path, modeling.BertClassifier, 3
    )
    there_and_back(
        tmp_path,
        model,
        LABELS,
        tokenizer,
        problem_type="multi_label_classification",
        max_length=20,
    )
    extended = write_vocab(tmp_path / "extended.txt", [*TOKENS, "more"])
    convert(
        tmp_path / "there",
        tmp_path / "more",
        extended_vocab_file=extended,
    )
    return tmp_path


def test_hugging_faces_format_keeps_the_problem_type_and_labels(
    multilabel_copies,
):
    for name in ("there", "back", "more"):
        config = read_json(multilabel_copies / name / "config.json")
        assert config["problem_type"] == "multi_label_classification"
        assert [*config["id2label"].values()] == LABELS


def test_copies_in_any_format_keep_the_class_the_mode_and_the_length(
    multilabel_copies,
):
    """Google's format has no entry for them."""
    for name in ("tf1", "back", "more"):
        preset = read_preset(multilabel_copies / name)
        assert preset.model_class == "BertClassifier"
        assert preset.head_settings["output_mode"] == "multilabel"
        assert preset.head_settings["max_seq_length"] == 20


def test_a_cross_encoder_states_no_problem_type_there_and_back(tmp_path):
    """Then transformers' pipeline applies a sigmoid, as it did before."""
    model, tokenizer = create_with_tokenizer(
        tmp_path, modeling.BertClassifier, 1
    )
    for config in there_and_back(tmp_path, model, None, tokenizer):
        assert "problem_type" not in config
    settings = read_preset(tmp_path / "tf1").head_settings
    assert settings["output_mode"] == "regression"


def test_a_copy_of_a_model_of_next_sentences_keeps_its_class(tmp_path):
    """Such a model is a BertPretrainer without the head of masked words."""
    model, tokenizer = create_with_tokenizer(tmp_path, modeling.BertPretrainer)
    names = modeling.named_variables(model)
    missing = [name for name in names if "cls/predictions" in name]
    for config in there_and_back(
        tmp_path, model, None, tokenizer, leave_out=missing
    ):
        assert config["architectures"] == ["BertForNextSentencePrediction"]


# {file: contents} with which Sentence Transformers describes a mean of words.
FILES_OF_POOLING = {
    "modules.json": [
        {
            "idx": 0,
            "name": "0",
            "path": "",
            "type": "sentence_transformers.models.Transformer",
        },
        {
            "idx": 1,
            "name": "1",
            "path": "1_Pooling",
            "type": "sentence_transformers.models.Pooling",
        },
    ],
    "sentence_bert_config.json": {"max_seq_length": 7},
    "1_Pooling/config.json": {
        "word_embedding_dimension": 8,
        "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True,
    },
}


@pytest.fixture
def sentence_model(tmp_path):
    """A folder of Sentence Transformers."""
    folder = shutil.copytree(RECORDED / "BertModel", tmp_path / "start")
    write_vocab(folder / "vocab.txt")
    (folder / "1_Pooling").mkdir()
    for name, contents in FILES_OF_POOLING.items():
        (folder / name).write_text(json.dumps(contents))
    return folder


def test_a_copy_in_googles_format_keeps_the_pooling_of_sentences(
    sentence_model, tmp_path
):
    # The second time, it replaces what it wrote.
    for _ in range(2):
        convert(sentence_model, tmp_path / "tf1", do_lower_case=False)
        convert(tmp_path / "tf1", tmp_path / "back")
    settings = read_preset(tmp_path / "tf1").head_settings
    assert settings["max_seq_length"] == 7
    for name, contents in FILES_OF_POOLING.items():
        copied = (tmp_path / "back" / name).read_text()
        assert json.loads(copied) == contents


@pytest.fixture
def left_to_right_run(pretrained, tmp_path):
    """Folder of a run with a network that transformers lacks."""
    run = shutil.copytree(pretrained.folder / "run", tmp_path / "run")
    description = read_json(run / "model.json")
    description["origin"]["settings"]["left_to_right"] = True
    (run / "model.json").write_text(json.dumps(description))
    return run


VOCAB_FILE = SAMPLES / "vocab.txt"


def test_a_network_that_transformers_lacks_is_refused(
    left_to_right_run, tmp_path
):
    with pytest.raises(ValueError, match="--left_to_right"):
        convert(left_to_right_run, tmp_path / "out", vocab_file=str(VOCAB_FILE))
    assert not (tmp_path / "out").exists()


def test_a_copy_with_more_tokens_keeps_the_network(left_to_right_run, tmp_path):
    tokens = [*VOCAB_FILE.read_text("utf-8").splitlines(), "more"]
    extended = write_vocab(tmp_path / "extended.txt", tokens)
    convert(
        left_to_right_run,
        tmp_path / "tf1",
        vocab_file=str(VOCAB_FILE),
        extended_vocab_file=extended,
    )
    preset = read_preset(tmp_path / "tf1")
    assert preset.network_arguments["left_to_right"]
    # It is another vocabulary than the one of the training.
    config = modeling.load_config(tmp_path / "tf1")
    assert config.vocab_size == len(tokens)
    settings_check.check_trained_settings(preset, config)
