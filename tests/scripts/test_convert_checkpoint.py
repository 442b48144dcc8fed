"""Checkpoints to Hugging Face's format and back, by tools.convert_checkpoint.

What transformers computes was recorded; see testdata/huggingface/record.py.
"""

import json
import os
import shutil
from pathlib import Path

import keras
import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf

import modeling
from data.text.tokenization import FullTokenizer
from serving import classifier, signatures
from tests import golden, script_runner
from tools import convert_checkpoint

RECORDED = golden.ROOT / "tests/testdata/huggingface"
CREATE = {
    "BertModel": modeling.BertModel,
    "BertForPreTraining": modeling.BertPretrainer,
    "BertForMaskedLM": modeling.BertPretrainer,
    "BertForSequenceClassification": lambda config: modeling.BertClassifier(
        config, 3
    ),
    "BertForTokenClassification": lambda config: modeling.BertTokenClassifier(
        config, 3
    ),
    "BertForQuestionAnswering": modeling.BertSpanLabeler,
    "BertForMultipleChoice": modeling.BertMultipleChoice,
}
# Our flag, where the names of a TF1 checkpoint do not tell the heads apart.
MODEL = {
    "BertForSequenceClassification": "classifier",
    "BertForTokenClassification": "token_classifier",
    "BertForMultipleChoice": "multiple_choice",
}
LABELS = ["no", "yes", "maybe"]
# The recorded models have 24 WordPieces.
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "film", "Film"]
TOKENS += [f"[unused{index}]" for index in range(24 - len(TOKENS))]


def write_vocab(path, tokens):
    path.write_text("".join(f"{token}\n" for token in tokens), "utf-8")
    return path


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """A folder with CLASS (TF1) and CLASS-back (Hugging Face) of each class."""
    folder = tmp_path_factory.mktemp("converted")
    vocab_file = write_vocab(folder / "vocab.txt", TOKENS)
    there = [
        (
            "tools.convert_checkpoint",
            folder,
            {
                "init_checkpoint": RECORDED / name,
                "output_dir": name,
                "vocab_file": vocab_file,
            },
        )
        for name in CREATE
    ]
    back = [
        (
            "tools.convert_checkpoint",
            folder,
            {
                "init_checkpoint": folder / name / "bert_model.ckpt",
                "output_dir": f"{name}-back",
                **({"model": MODEL[name]} if name in MODEL else {}),
            },
        )
        for name in CREATE
    ]
    for commands in (there, back):
        for done in script_runner.run_all(commands):
            done.check()
    return folder


def test_the_vocabulary_goes_with_the_model(converted):
    for name in CREATE:
        folder = converted / f"{name}-back"
        vocab_file = converted / "vocab.txt"
        assert (folder / "vocab.txt").read_bytes() == vocab_file.read_bytes()
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        assert settings["do_lower_case"] is False
        assert (folder / "special_tokens_map.json").is_file()


def compute(name, model, recorded):
    """Returns what a model of ours computes, by transformers' names."""
    features = {
        ours: recorded[theirs]
        for ours, theirs in (
            ("input_ids", "input_ids"),
            ("input_mask", "attention_mask"),
            ("segment_ids", "token_type_ids"),
        )
    }
    if name == "BertModel":
        outputs = model(*features.values())
        return {
            "last_hidden_state": outputs["sequence_output"],
            "pooler_output": outputs["pooled_output"],
        }
    if name == "BertForMultipleChoice":
        features = {
            key: np.stack([value, value[::-1]], 1)
            for key, value in features.items()
        }
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


@pytest.mark.parametrize("name", CREATE)
def test_computes_what_transformers_does(converted, name):
    recorded = np.load(RECORDED / "outputs.npz")
    for source in (RECORDED / name, converted / name):
        model = CREATE[name](modeling.load_config(source))
        modeling.load_checkpoint(model, source)
        outputs = compute(name, model, recorded)
        expected = {
            key.split("/")[1] for key in recorded if key.startswith(f"{name}/")
        }
        assert outputs.keys() == expected
        for key, value in outputs.items():
            np.testing.assert_allclose(
                value, recorded[f"{name}/{key}"], rtol=0, atol=1e-4
            )


@pytest.mark.parametrize("name", CREATE)
def test_there_and_back_is_equal_to_the_bit(converted, name):
    before = safetensors.numpy.load_file(RECORDED / name / "model.safetensors")
    after = safetensors.numpy.load_file(
        converted / f"{name}-back" / "model.safetensors"
    )
    assert after.keys() == before.keys()
    for key, value in before.items():
        assert after[key].dtype == value.dtype
        np.testing.assert_array_equal(after[key], value)
    config, original = (
        json.loads((path / name_ / "config.json").read_text())
        for path, name_ in ((converted, f"{name}-back"), (RECORDED, name))
    )
    for key in ("architectures", "hidden_act", "hidden_size", "model_type"):
        assert config[key] == original[key]
    if name in ("BertForSequenceClassification", "BertForTokenClassification"):
        assert config["id2label"] == original["id2label"]
        assert config["label2id"] == original["label2id"]
        labels_file = converted / name / "labels.txt"
        assert labels_file.read_text().splitlines() == LABELS


def test_names_are_the_originals(converted):
    names = dict(
        tf.train.list_variables(
            str(converted / "BertForPreTraining" / "bert_model.ckpt")
        )
    )
    assert len(names) == 5 + 2 * 16 + 2 + 5 + 2
    assert names["cls/predictions/output_bias"] == [24]
    assert names["bert/encoder/layer_1/intermediate/dense/kernel"] == [8, 12]
    names = dict(
        tf.train.list_variables(
            str(converted / "BertForMaskedLM" / "bert_model.ckpt")
        )
    )
    # What the file does not have is not made up.
    assert not any("seq_relationship" in name for name in names)
    assert not any("pooler" in name for name in names)


@pytest.mark.parametrize("name", CREATE)
def test_transformers_reads_what_is_written(converted, name):
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    create = getattr(transformers, name)
    model, report = create.from_pretrained(
        converted / f"{name}-back", output_loading_info=True
    )
    assert not report["missing_keys"] and not report["mismatched_keys"]
    recorded = np.load(RECORDED / "outputs.npz")
    inputs = {
        key: torch.tensor(recorded[key])
        for key in ("input_ids", "attention_mask", "token_type_ids")
    }
    if name == "BertForMultipleChoice":
        inputs = {
            key: torch.stack([value, value.flip(0)], 1)
            for key, value in inputs.items()
        }
    before = create.from_pretrained(RECORDED / name)
    with torch.no_grad():
        outputs = model.eval()(**inputs)
        expected = before.eval()(**inputs)
    # Its own recordings are from another machine, which rounds otherwise.
    for key in recorded:
        if key.startswith(f"{name}/"):
            key = key.split("/")[1]
            np.testing.assert_array_equal(outputs[key], expected[key])


def test_transformers_answers_as_the_saved_model(tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    tokenizer = FullTokenizer(script_runner.SAMPLES / "vocab.txt")
    config = modeling.BertConfig(
        vocab_size=len(tokenizer.tokens),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    keras.utils.set_random_seed(0)
    model = modeling.BertClassifier(config, 3)
    model.build()
    modeling.save_release(model, tmp_path / "tf1", tokenizer, LABELS)
    classifier.export_classifier(
        tmp_path / "export",
        model,
        LABELS,
        signatures.ServingOptions(tokenizer, max_seq_length=64),
    )
    script_runner.run(
        "tools.convert_checkpoint",
        tmp_path,
        init_checkpoint="tf1/bert_model.ckpt",
        output_dir="huggingface",
        model="classifier",
    ).check()
    texts = [
        "I love this film.",
        "The Café, it isn't open: 3 days!",
        "unaffable 日本 UPPER",
        "a " * 30,
    ]
    answer = transformers.pipeline(
        "text-classification", model=str(tmp_path / "huggingface"), top_k=None
    )
    saved = tf.saved_model.load(str(tmp_path / "export"))
    ours = saved.signatures["classify"](
        text_a=tf.constant(texts), text_b=tf.constant([""] * len(texts))
    )
    for theirs, label, probabilities in zip(
        answer(texts),
        ours["label"].numpy(),
        ours["probabilities"].numpy(),
        strict=True,
    ):
        assert theirs[0]["label"] == label.decode()
        scores = {each["label"]: each["score"] for each in theirs}
        np.testing.assert_allclose(
            [scores[name] for name in LABELS], probabilities, rtol=0, atol=1e-5
        )


def test_what_cannot_be_converted_is_named(converted, tmp_path):
    other, torch_only = tmp_path / "other", tmp_path / "torch"
    shutil.copytree(RECORDED / "BertModel", other)
    config = json.loads((other / "config.json").read_text())
    config["architectures"] = ["BertLMHeadModel"]
    (other / "config.json").write_text(json.dumps(config))
    torch_only.mkdir()
    (torch_only / "pytorch_model.bin").write_bytes(b"")
    classifier = converted / "BertForSequenceClassification/bert_model.ckpt"
    short = tmp_path / "short"
    shutil.copytree(RECORDED / "BertForTokenClassification", short)
    config = json.loads((short / "config.json").read_text())
    config["id2label"] = {"0": "no"}
    (short / "config.json").write_text(json.dumps(config))
    damaged = tmp_path / "damaged"
    shutil.copytree(converted / "BertModel", damaged)
    (damaged / "vocab.txt").unlink()
    larger = write_vocab(tmp_path / "larger.txt", [*TOKENS, "more"])
    cases = [
        ({"init_checkpoint": other}, "is of BertLMHeadModel"),
        ({"init_checkpoint": torch_only}, "holds pytorch_model.bin; save"),
        ({"init_checkpoint": classifier}, "give --model=classifier, token_"),
        ({"init_checkpoint": "bert-base-uncased"}, "nothing is downloaded"),
        (
            {"init_checkpoint": RECORDED / "BertModel", "model": "squad"},
            "has no weights for --model=squad",
        ),
        (
            {"init_checkpoint": short},
            "config.json: `id2label` must name the model's 3 outputs",
        ),
        (
            {"init_checkpoint": damaged / "bert_model.ckpt"},
            "damaged/vocab.txt, and without a vocabulary transformers makes "
            "up one of 5 tokens; give --vocab_file",
        ),
        (
            {
                "init_checkpoint": damaged / "bert_model.ckpt",
                "vocab_file": larger,
            },
            "larger.txt is larger than the model: 25 WordPieces",
        ),
    ]
    done = script_runner.run_all(
        [
            (
                "tools.convert_checkpoint",
                tmp_path,
                {"output_dir": "new"} | flags,
            )
            for flags, _ in cases
        ]
    )
    for each, (_, message) in zip(done, cases, strict=True):
        assert message in each.error
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"classifier.weight": []}, r"classifier.weight in .* has shape \[\]"),
        ({"classifier.weight": [8]}, r"has shape \[8\], and must be"),
        ({"output_weights": [0, 8]}, r"has shape \[0, 8\], and must be"),
        ({"pooler.dense.bias": [8]}, "has neither output_weights nor"),
    ],
)
def test_output_weights_of_another_shape_are_refused(shapes, message):
    with pytest.raises(ValueError, match=message):
        convert_checkpoint.create_model(
            "classifier", modeling.BertConfig(24), "model.safetensors", shapes
        )


def test_the_casing_is_the_flags_or_the_configurations(tmp_path):
    checkpoint = tmp_path / "cased_L-12_H-768_A-12" / "bert_model.ckpt"
    checkpoint.parent.mkdir()
    find_casing = convert_checkpoint.find_casing
    assert find_casing(None, str(checkpoint)) is None
    assert find_casing(False, str(checkpoint)) is False
    with pytest.raises(ValueError, match="is a cased model"):
        find_casing(True, str(checkpoint))
    settings = checkpoint.parent / "tokenizer_config.json"
    settings.write_text('{"do_lower_case": true}')
    assert find_casing(None, str(checkpoint)) is True
    assert find_casing(False, str(checkpoint)) is False


def test_minilm(tmp_path):
    """Real weights; BERT_MINILM_DIR names the folder that holds them.

    What transformers computes with them was recorded too.
    """
    if "BERT_MINILM_DIR" not in os.environ:
        pytest.skip("BERT_MINILM_DIR does not name MiniLM's folder")
    folder = Path(os.environ["BERT_MINILM_DIR"])
    for source, made in ((folder, "tf1"), (tmp_path / "tf1", "back")):
        script_runner.run(
            "tools.convert_checkpoint",
            tmp_path,
            init_checkpoint=source,
            output_dir=made,
        ).check()
    model = modeling.BertModel(modeling.load_config(tmp_path / "tf1"))
    modeling.load_checkpoint(model, tmp_path / "tf1")
    recorded = np.load(RECORDED / "minilm.npz")
    for key, value in compute("BertModel", model, recorded).items():
        np.testing.assert_allclose(
            value, recorded[f"BertModel/{key}"], rtol=0, atol=1e-4
        )
    before = safetensors.numpy.load_file(folder / "model.safetensors")
    before.pop("embeddings.position_ids", None)
    after = safetensors.numpy.load_file(tmp_path / "back/model.safetensors")
    assert after.keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)
