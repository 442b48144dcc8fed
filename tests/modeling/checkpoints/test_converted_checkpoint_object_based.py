"""Checkpoints and SavedModels of Model Garden, which TF-Hub published."""

import os
import re
import shutil

import numpy as np
import pytest

import modeling
from data.text.tokenization import FullTokenizer
from model_folders.reading.preset import read_preset
from tests.support.checkpoints import convert
from tests.support.log_lines import logged_warnings
from tests.support.weights.modelgarden import (
    WEIGHTS,
    assert_outputs_recorded,
    changed_checkpoint,
    checkpoint_prefix,
    load_features,
)
from tests.support.weights.object_checkpoints import ENDING, GRAPH

NEXT_SENTENCE = "bert/next_sentence/"


@pytest.fixture
def checkpoint(tmp_path):
    """A copy of a recorded checkpoint."""
    return shutil.copytree(WEIGHTS / "v1_items", tmp_path / "checkpoint")


@pytest.fixture
def saved_model(tmp_path):
    """A copy of a recorded encoder of TF-Hub."""
    folder = shutil.copytree(WEIGHTS / "hub_v2_mlm", tmp_path / "saved_model")
    # Nothing reads or runs this file.
    (folder / "saved_model.pb").write_bytes(b"no SavedModel")
    return folder


def test_checkpoint_items_give_the_recorded_outputs(checkpoint):
    assert_outputs_recorded(checkpoint, "out_v1.npz")
    assert_outputs_recorded(checkpoint / "bert_model.ckpt-1", "out_v1.npz")
    tokenizer = FullTokenizer.from_preset(checkpoint)
    assert tokenizer.do_lower_case
    assert len(tokenizer.tokens) == 1600


def test_a_saved_model_gives_the_recorded_outputs(saved_model):
    assert_outputs_recorded(saved_model, "out_v2.npz")
    preset = read_preset(saved_model)
    stated = modeling.load_config(WEIGHTS / "v1_items").to_dict()
    derived = preset.load_config().to_dict()
    assert derived | {"initializer_range": 0.2} == stated
    assert modeling.load_config(saved_model).to_dict() == derived
    assert preset.vocab_file == str(saved_model / "assets/vocab.txt")


@pytest.mark.parametrize("casing", [False, True, None])
def test_a_saved_model_states_its_casing(saved_model, casing):
    with changed_checkpoint(saved_model) as changed:
        changed.values[f"do_lower_case{ENDING}"] = (
            5 if casing is None else casing
        )
    assert read_preset(saved_model).do_lower_case is casing
    if casing is not None:
        tokenizer = FullTokenizer.from_preset(saved_model)
        assert tokenizer.do_lower_case is casing


@pytest.mark.parametrize("place", ["model.json", "assets.extra/model.json"])
def test_an_export_of_this_project_is_refused_as_a_start(saved_model, place):
    (saved_model / "assets.extra").mkdir()
    (saved_model / place).write_text('{"version": 1}')
    with pytest.raises(ValueError, match="is an export"):
        modeling.check_checkpoint(saved_model)
    assert read_preset(saved_model).config_file is None


def test_a_folder_without_names_is_read_by_its_keys(checkpoint):
    with changed_checkpoint(checkpoint) as changed:
        for value in changed.attributes:
            value.full_name = ""
    assert_outputs_recorded(checkpoint, "out_v1.npz")


def test_the_state_of_a_trainer_is_left_out(checkpoint):
    with changed_checkpoint(checkpoint) as changed:
        weights = [
            attribute for attribute in changed.attributes if attribute.full_name
        ]
        for number, weight in enumerate(weights):
            slot = np.zeros_like(changed.values[weight.checkpoint_key])
            former = weight.checkpoint_key.removesuffix(ENDING)
            for name, key in (
                (
                    f"{weight.full_name}/m",
                    f"{former}/.OPTIMIZER_SLOT/optimizer/m",
                ),
                (f"Adam/v/{weight.full_name}", f"opt/_variables/{number}"),
            ):
                changed.add_variable(name, key, slot)
        changed.add_variable("Adam/rate", "optimizer/rate", np.float32(1))
    assert_outputs_recorded(checkpoint, "out_v1.npz")
    model = modeling.BertPretrainer.from_preset(checkpoint)
    assert not modeling.load_checkpoint(model, checkpoint).unused


def test_each_head_gets_its_own_pooler(checkpoint, caplog):
    with changed_checkpoint(checkpoint) as changed:
        logits = np.random.default_rng(1).normal(size=(32, 2)).astype("float32")
        bias = np.array([1, 2], "float32")
        for name, value in (("kernel", logits), ("bias", bias)):
            full_name = f"{NEXT_SENTENCE}logits/{name}"
            changed.add_variable(full_name, f"model/logits/{name}", value)
    caplog.set_level("INFO")
    assert_outputs_recorded(checkpoint, "out_v1.npz")
    assert "the encoder's pooler" in caplog.text
    assert "pooler of the head" in caplog.text

    pooler = {
        name: changed.values[f"next_sentence..pooler_dense/{name}{ENDING}"]
        for name in ("kernel", "bias")
    }
    first = np.load(WEIGHTS / "out_v1.npz")["seq"][:, 0]
    pooled = np.tanh(first @ pooler["kernel"] + pooler["bias"])
    model = modeling.BertPretrainer.from_preset(checkpoint)
    next_sentence = model(load_features())["next_sentence_logits"]
    np.testing.assert_allclose(next_sentence, pooled @ logits + bias, atol=1e-5)


def assert_refused(folder, message, error=ValueError):
    with pytest.raises(error, match=message) as raised:
        modeling.BertModel.from_preset(folder)
    assert "\n" not in str(raised.value)


def test_another_weight_is_named_with_its_shape(checkpoint):
    with changed_checkpoint(checkpoint) as changed:
        name = "transformer/layer_0/self_attention/relative\n/kernel"
        changed.add_variable(name, "relative", np.zeros((3, 4), "float32"))
    assert_refused(
        checkpoint, r"relative\\n/kernel' with shape \[3, 4\], which is no"
    )


@pytest.mark.parametrize(
    "name",
    [
        "sentence_prediction/logits/kernel",
        "classifier/predictions/transform/logits/kernel",
        "span_labeling/predictions/transform/logits/kernel",
        "token_classification/logits/kernel",
    ],
)
def test_an_encoder_is_read_without_the_head_of_a_task(
    checkpoint, caplog, name
):
    with changed_checkpoint(checkpoint) as changed:
        changed.add_variable(name, "head", np.zeros((32, 3), "float32"))
    assert_outputs_recorded(checkpoint, "out_v1.npz")
    assert any(name in warning for warning in logged_warnings(caplog))
    model = modeling.BertClassifier.from_preset(checkpoint, num_labels=3)
    report = modeling.load_checkpoint(model, checkpoint)
    assert name in report.unused
    assert "output_weights" in report.missing
    with pytest.raises(ValueError, match=f"contains no head .*{name}"):
        modeling.BertClassifier.from_preset(checkpoint)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("word_embeddings/embeddings", "lacks bert/embeddings/word_embeddings"),
        (
            "transformer/layer_1/output/bias",
            "lacks .*layer_1/output/dense/bias",
        ),
        ("pooler_transform/bias", "lacks bert/pooler/dense/bias"),
        (
            "bert/cls/predictions/output_bias/bias",
            "lacks cls/predictions/output_bias",
        ),
    ],
)
def test_a_missing_weight_is_named(checkpoint, name, message):
    with changed_checkpoint(checkpoint) as changed:
        (value,) = (
            attribute
            for attribute in changed.attributes
            if attribute.full_name == name
        )
        value.full_name = "renamed"
    assert_refused(checkpoint, f"{message}.*'renamed' with shape")


def test_names_that_occur_twice_are_refused(checkpoint):
    with changed_checkpoint(checkpoint) as changed:
        zeros = np.zeros((1600, 32), "float32")
        changed.add_variable("b/word_embeddings/embeddings", "other", zeros)
    assert_refused(checkpoint, "contains several encoders")


def test_another_number_of_heads_is_refused(checkpoint):
    file = checkpoint / "bert_config.json"
    text = file.read_text()
    heads = '"num_attention_heads": '
    file.write_text(text.replace(f"{heads}4", f"{heads}8"))
    assert_refused(
        checkpoint, "has 4 attention heads in .*num_attention_heads is 8"
    )


def test_a_graph_with_an_unknown_key_is_named(checkpoint):
    with changed_checkpoint(checkpoint) as changed:
        changed.attributes[3].checkpoint_key = "none"
    prefix = checkpoint_prefix(checkpoint)
    assert_refused(
        checkpoint, f"{prefix} cannot be read: 'none' is missing", OSError
    )


def test_a_damaged_graph_is_named(checkpoint):
    with changed_checkpoint(checkpoint) as changed:
        changed.graph = b"\xff\xff"
    prefix = checkpoint_prefix(checkpoint)
    assert_refused(checkpoint, f"{prefix} cannot be read: {GRAPH} is", OSError)


def test_a_truncated_file_of_values_is_named(checkpoint):
    prefix = checkpoint_prefix(checkpoint)
    data = prefix.with_name(prefix.name + ".data-00000-of-00001")
    os.truncate(data, 1000)
    assert_refused(
        checkpoint, f"{re.escape(str(prefix))} cannot be read", OSError
    )


@pytest.mark.parametrize("model_format", ["tf1", "huggingface"])
def test_a_copy_in_another_format_computes_the_same(
    saved_model, tmp_path, model_format
):
    convert(saved_model, tmp_path / "copy", output_format=model_format)
    assert_outputs_recorded(tmp_path / "copy", "out_v2.npz")
    assert FullTokenizer.from_preset(tmp_path / "copy").do_lower_case
