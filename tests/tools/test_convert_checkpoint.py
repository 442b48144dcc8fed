"""Checkpoints to Hugging Face's format and back, by tools.convert_checkpoint.

What transformers computes was recorded; see testdata/huggingface/record.py.
"""

import json
import shutil

import numpy as np
import pytest
import safetensors.numpy

import modeling
from data.text.tokenization import FullTokenizer
from files.json_files import read_json
from model_folders.reading import folder_reading, settings_check
from tests.support import script_runner
from tests.support.checkpoints import convert
from tests.support.models import built, tiny_config
from tests.support.paths import ROOT, SAMPLES
from tests.support.tokenizers import tokenizer_json

RECORDED = ROOT / "tests/testdata/huggingface"
SCRIPT = "tools.convert_checkpoint"
# Our class of each of theirs; and --model, where the names of a TF1 checkpoint
# do not tell the heads apart.
CLASSES = {
    "BertModel": (modeling.BertModel, None),
    "BertForPreTraining": (modeling.BertPretrainer, None),
    "BertForMaskedLM": (modeling.BertPretrainer, None),
    "BertForSequenceClassification": (modeling.BertClassifier, "classifier"),
    "BertForTokenClassification": (
        modeling.BertTokenClassifier,
        "token_classifier",
    ),
    "BertForQuestionAnswering": (modeling.BertSpanLabeler, None),
    "BertForMultipleChoice": (modeling.BertMultipleChoice, "multiple_choice"),
}
LABELS = ["no", "yes", "maybe"]
# The recorded models have 24 WordPieces.
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "film", "Film"]
TOKENS += [f"[unused{index}]" for index in range(24 - len(TOKENS))]


def write_vocab(path, tokens):
    """Writes a vocabulary. Returns `path`."""
    path.write_text("".join(f"{token}\n" for token in tokens), "utf-8")
    return path


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """A folder with CLASS (TF1) and CLASS-back (Hugging Face) of each class."""
    folder = tmp_path_factory.mktemp("converted")
    vocab_file = str(write_vocab(folder / "vocab.txt", TOKENS))
    for name, (_, model) in CLASSES.items():
        convert(
            RECORDED / name,
            folder / name,
            vocab_file=vocab_file,
            do_lower_case=False,
        )
        checkpoint = folder / name / "bert_model.ckpt"
        convert(checkpoint, folder / f"{name}-back", model=model)
    return folder


def compute_outputs(name, model, recorded):
    """Returns what a model of ours computes, by transformers' names."""
    theirs = ("input_ids", "attention_mask", "token_type_ids")
    ours = ("input_ids", "input_mask", "segment_ids")
    features = {x: recorded[y] for x, y in zip(ours, theirs, strict=True)}
    if name == "BertModel":
        outputs = model(*features.values())
        return {
            "last_hidden_state": outputs["sequence_output"],
            "pooler_output": outputs["pooled_output"],
        }
    if name == "BertForMultipleChoice":
        features = {k: np.stack([x, x[::-1]], 1) for k, x in features.items()}
    if "PreTraining" in name or "MaskedLM" in name:
        batch, length = features["input_ids"].shape
        every = np.tile(np.arange(length), (batch, 1))
        outputs = model({**features, "masked_lm_positions": every})
        if name == "BertForMaskedLM":
            return {"logits": outputs["masked_lm_logits"]}
        return {
            "prediction_logits": outputs["masked_lm_logits"],
            "seq_relationship_logits": outputs["next_sentence_logits"],
        }
    outputs = model(features)
    return outputs if isinstance(outputs, dict) else {"logits": outputs}


def check_outputs(file, name, source, *arguments):
    """Compares what a folder's model computes with a recording."""
    model = CLASSES[name][0](modeling.load_config(source), *arguments)
    modeling.load_checkpoint(model, source)
    recorded = np.load(RECORDED / file)
    outputs = compute_outputs(name, model, recorded)
    names = {f"{name}/{key}" for key in outputs}
    assert names == {key for key in recorded if key.startswith(f"{name}/")}
    for key, value in outputs.items():
        expected = recorded[f"{name}/{key}"]
        np.testing.assert_allclose(value, expected, rtol=0, atol=5e-5)


def check_weights(before, after):
    """Compares two files to the bit."""
    before, after = map(safetensors.numpy.load_file, (before, after))
    before.pop("embeddings.position_ids", None)
    assert after.keys() == before.keys()
    for name, value in before.items():
        assert after[name].dtype == value.dtype
        np.testing.assert_array_equal(after[name], value)


@pytest.mark.parametrize("name", CLASSES)
def test_a_model_computes_what_transformers_computes(converted, name):
    num_labels = [3] * ("Sequence" in name or "Token" in name)
    for source in (RECORDED, converted):
        check_outputs("outputs.npz", name, source / name, *num_labels)


EACH_CLASS = pytest.mark.parametrize("name", CLASSES)


@EACH_CLASS
def test_weights_are_equal_to_the_bit_there_and_back(converted, name):
    weights = "model.safetensors"
    back = converted / f"{name}-back"
    check_weights(RECORDED / name / weights, back / weights)


@EACH_CLASS
def test_the_configuration_is_the_same_there_and_back(converted, name):
    original, config = (
        read_json(folder / "config.json")
        for folder in (RECORDED / name, converted / f"{name}-back")
    )
    # The one kind there is, which transformers no longer writes.
    assert config.pop("position_embedding_type") == "absolute"
    assert config.items() <= original.items()
    needed = "architectures hidden_act hidden_size model_type num_hidden_layers"
    assert {*needed.split()} <= config.keys()


@EACH_CLASS
def test_the_vocabulary_and_its_casing_go_with_the_model(converted, name):
    folder = converted / f"{name}-back"
    vocabulary = (folder / "vocab.txt").read_bytes()
    assert vocabulary == (converted / "vocab.txt").read_bytes()
    settings = read_json(folder / "tokenizer_config.json")
    assert settings["do_lower_case"] is False


@EACH_CLASS
def test_the_card_of_a_copy_names_no_folder_of_the_user(converted, name):
    card = (converted / f"{name}-back/README.md").read_text()
    assert str(converted) not in card


@pytest.mark.parametrize(
    "name", ["BertForSequenceClassification", "BertForTokenClassification"]
)
def test_a_copy_and_its_copy_keep_the_labels(converted, name):
    assert (
        folder_reading.read_preset(converted / f"{name}-back").labels == LABELS
    )


def test_a_model_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="=bert-base-uncased does not"):
        convert("bert-base-uncased", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def one_label(tmp_path):
    """A folder of weights whose config.json names one of three labels."""
    name = "BertForTokenClassification"
    folder = shutil.copytree(RECORDED / name, tmp_path / "one_label")
    config = read_json(folder / "config.json")
    config["id2label"] = {"0": "no"}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_weights_without_a_vocabulary_ask_for_it(one_label, tmp_path):
    with pytest.raises(ValueError, match="--vocab_file"):
        convert(one_label, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_labels_that_do_not_fit_the_head_are_named(one_label, tmp_path):
    vocab_file = str(write_vocab(tmp_path / "vocab.txt", TOKENS))
    options = {"vocab_file": vocab_file, "do_lower_case": False}
    with pytest.raises(ValueError, match="`labels`"):
        convert(one_label, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"vocab_file": "tape.txt"}, "tape"),
        ({"do_lower_case": True}, "do_lower_case"),
        ({"model": "squad"}, "squad"),
    ],
)
def test_flags_that_contradict_the_model_are_named(
    options, culprit, converted, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write_vocab(tmp_path / "tape.txt", [*TOKENS[:5], "tape", *TOKENS[6:]])
    with pytest.raises(ValueError, match=culprit):
        convert(converted / "BertModel", "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_head_of_ambiguous_names_needs_the_flag_model(converted, tmp_path):
    """Heads of texts, of words and of choices have the same names."""
    copy = tmp_path / "copy"
    shutil.copytree(converted / "BertForTokenClassification", copy)
    (copy / "model.json").unlink()
    values = "--model=classifier, token_classifier or multiple_choice"
    with pytest.raises(ValueError, match=values):
        convert(copy, tmp_path / "out")


def create_with_tokenizer(folder, keras_class, *arguments, **options):
    """Returns a tiny model, and a tokenizer whose vocabulary it has."""
    config = tiny_config(vocab_size=len(TOKENS))
    tokenizer = FullTokenizer(write_vocab(folder / "vocab.txt", TOKENS))
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
    check_weights(there / "model.safetensors", back / "model.safetensors")
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
    extended = str(write_vocab(tmp_path / "extended.txt", [*TOKENS, "more"]))
    convert(
        tmp_path / "there",
        tmp_path / "more",
        extended_vocab_file=extended,
    )
    return tmp_path


def test_copies_in_hugging_faces_format_state_the_problem_type_and_labels(
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
        preset = folder_reading.read_preset(multilabel_copies / name)
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
    settings = folder_reading.read_preset(tmp_path / "tf1").head_settings
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


def test_a_copy_in_googles_format_keeps_the_pooling_of_sentences(
    converted, tmp_path
):
    start = tmp_path / "start"
    shutil.copytree(converted / "BertModel-back", start)
    (start / "1_Pooling").mkdir()
    parts = [("", "Transformer"), ("1_Pooling", "Pooling")]
    texts = {
        "modules.json": [
            {
                "idx": number,
                "name": str(number),
                "path": path,
                "type": f"sentence_transformers.models.{kind}",
            }
            for number, (path, kind) in enumerate(parts)
        ],
        "sentence_bert_config.json": {"max_seq_length": 7},
        "1_Pooling/config.json": {
            "word_embedding_dimension": 8,
            "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": True,
        },
    }
    for name, values in texts.items():
        (start / name).write_text(json.dumps(values))
    # The file of an export says nothing of this.
    (start / "model.json").unlink()
    # The second time, it replaces what it wrote.
    for _ in range(2):
        convert(start, tmp_path / "tf1")
        convert(tmp_path / "tf1", tmp_path / "back")
    assert (
        folder_reading.read_preset(tmp_path / "tf1").head_settings[
            "max_seq_length"
        ]
        == 7
    )
    for name, values in texts.items():
        assert json.loads((tmp_path / "back" / name).read_text()) == values


def test_a_network_that_transformers_lacks_is_kept_or_refused(
    pretrained, tmp_path
):
    run = shutil.copytree(pretrained.folder / "run", tmp_path / "run")
    description = read_json(run / "model.json")
    description["origin"]["settings"]["left_to_right"] = True
    (run / "model.json").write_text(json.dumps(description))
    vocab_file = SAMPLES / "vocab.txt"
    options = {"vocab_file": str(vocab_file)}
    with pytest.raises(ValueError, match="--left_to_right"):
        convert(run, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
    tokens = [*vocab_file.read_text("utf-8").splitlines(), "more"]
    extended = str(write_vocab(tmp_path / "extended.txt", tokens))
    convert(run, tmp_path / "tf1", **options, extended_vocab_file=extended)
    preset = folder_reading.read_preset(tmp_path / "tf1")
    assert preset.network["left_to_right"]
    # It is another vocabulary than the one of the training.
    config = modeling.load_config(tmp_path / "tf1")
    assert config.vocab_size == len(tokens)
    settings_check.check_trained_settings(preset, config)


def test_a_folder_that_transformers_5_saved_is_converted(converted, tmp_path):
    """The folder contains tokenizer.json, and no vocab.txt."""
    shutil.copytree(RECORDED / "BertModel", tmp_path / "saved")
    tokenizer_json.write_tokenizer_json(
        tmp_path / "saved/tokenizer.json",
        [
            ("model", "vocab", {token: i for i, token in enumerate(TOKENS)}),
            (None, "added_tokens", []),
            ("normalizer", "lowercase", False),
        ],
    )
    flags = {"init_checkpoint": "saved", "output_dir": "tf1"}
    script_runner.run(SCRIPT, tmp_path, **flags).check()
    vocabulary = (tmp_path / "tf1/vocab.txt").read_bytes()
    assert vocabulary == (converted / "vocab.txt").read_bytes()
