"""Checkpoints to Hugging Face's format and back, by tools.convert_checkpoint.

What transformers computes was recorded; see testdata/huggingface/record.py.
test_convert_checkpoint_settings.py tests what copies state beside the weights.
"""

import json
import shutil

import numpy as np
import pytest

import modeling
from files.json_files import read_json
from model_folders.reading.preset import read_preset
from tests.support import script_runner
from tests.support.checkpoints import convert
from tests.support.tokenizers import tokenizer_json
from tests.support.weights.huggingface_files import (
    LABELS,
    RECORDED,
    TOKENS,
    assert_same_weights,
    write_vocab,
)

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


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """A folder with CLASS (TF1) and CLASS-back (Hugging Face) of each class."""
    folder = tmp_path_factory.mktemp("converted")
    vocab_file = write_vocab(folder / "vocab.txt")
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
    features = {
        our_name: recorded[their_name]
        for our_name, their_name in zip(ours, theirs, strict=True)
    }
    if name == "BertModel":
        outputs = model(*features.values())
        return {
            "last_hidden_state": outputs["sequence_output"],
            "pooler_output": outputs["pooled_output"],
        }
    if name == "BertForMultipleChoice":
        # The second choice of each row is the first of another.
        features = {
            feature: np.stack([ids, ids[::-1]], axis=1)
            for feature, ids in features.items()
        }
    if "PreTraining" in name or "MaskedLM" in name:
        batch, length = features["input_ids"].shape
        all_positions = np.tile(np.arange(length), (batch, 1))
        outputs = model({**features, "masked_lm_positions": all_positions})
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


@pytest.mark.parametrize("name", CLASSES)
def test_a_model_computes_what_transformers_computes(converted, name):
    num_labels = [3] * ("Sequence" in name or "Token" in name)
    for source in (RECORDED, converted):
        check_outputs("outputs.npz", name, source / name, *num_labels)


EACH_CLASS = pytest.mark.parametrize("name", CLASSES)


@EACH_CLASS
def test_weights_are_equal_to_the_bit_there_and_back(converted, name):
    assert_same_weights(converted / f"{name}-back", RECORDED / name)


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
    assert read_preset(converted / f"{name}-back").labels == LABELS


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
    vocab_file = write_vocab(tmp_path / "vocab.txt")
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
