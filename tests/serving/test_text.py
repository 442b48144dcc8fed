"""Text asked of SavedModels, against the Python that the scripts run."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import serving
from data.classification.features import InputExample, convert_single_example
from data.text.tokenization import FullTokenizer
from serving.signatures import ServingOptions
from tests.serving.conftest import LABELS, LENGTH, TOKENIZER, export
from training.config import ExportConfig

LITERT = ExportConfig(export_dir="x", export_format="litert")


def pack(served, text_a, text_b=None):
    """Returns run_classifier.py's inputs of texts, int32 [N, LENGTH]."""
    found = [
        convert_single_example(
            i,
            InputExample(i, *texts, label="0"),
            ["0"],
            LENGTH,
            served.tokenizer,
        )
        for i, texts in enumerate(
            zip(text_a, text_b or [None] * len(text_a), strict=True)
        )
    ]
    return {
        name: tf.constant([getattr(one, name) for one in found], tf.int32)
        for name in ("input_ids", "input_mask", "segment_ids")
    }


def softmax(logits):
    return tf.nn.softmax(logits).numpy()


def test_classify(exports):
    served = exports["classifier"]
    for (_, inputs), outputs in zip(
        served.requests[:2], served.outputs, strict=False
    ):
        check_labels(served, outputs, [*inputs.values()])


def check_labels(served, outputs, texts):
    expected = softmax(served.model(pack(served, *texts)))
    assert len({*expected.argmax(-1)}) > 1
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)
    labels = [LABELS[index] for index in expected.argmax(-1)]
    assert outputs["label"].tolist() == labels
    assert outputs["labels"].tolist() == [LABELS] * len(labels)


def test_embed(exports):
    served = exports["features"]
    texts = served.requests[0][1]["text"]
    outputs, none = served.outputs
    features = pack(served, texts)
    expected = served.model(
        features["input_ids"], features["input_mask"], features["segment_ids"]
    )
    np.testing.assert_allclose(
        outputs["pooled_output"], expected["pooled_output"], atol=1e-5
    )
    lengths = features["input_mask"].numpy().sum(1)
    assert outputs["lengths"].tolist() == lengths.tolist()
    assert outputs["tokens"].shape == (len(texts), lengths.max())
    for row, length in enumerate(lengths):
        np.testing.assert_allclose(
            outputs["sequence_output"][row, :length],
            expected["sequence_output"][row, :length],
            atol=1e-5,
        )
        assert not outputs["sequence_output"][row, length:].any()
        mean = outputs["sequence_output"][row, :length].mean(0)
        np.testing.assert_allclose(outputs["mean_output"][row], mean, atol=1e-5)
        np.testing.assert_allclose(
            outputs["mean_normalized"][row],
            mean / np.linalg.norm(mean),
            atol=1e-5,
        )
        tokens = outputs["tokens"][row].tolist()
        assert tokens[:length] == served.tokenizer.convert_ids_to_tokens(
            features["input_ids"][row, :length].numpy()
        )
        assert not any(tokens[length:])
    # No text at all is no error either.
    assert none["pooled_output"].shape == (0, 16)


def test_next_sentence(exports):
    served = exports["pretraining"]
    features = pack(served, **served.requests[1][1])
    positions = tf.zeros([len(features["input_ids"]), 1], tf.int32)
    logits = served.model({**features, "masked_lm_positions": positions})
    np.testing.assert_allclose(
        served.outputs[1]["probability"],
        softmax(logits["next_sentence_logits"])[:, 0],
        atol=1e-5,
    )


def test_fill_mask(exports):
    served = exports["pretraining"]
    outputs = served.outputs[0]
    tokenizer = served.tokenizer
    counts = []
    for row, text in enumerate(served.requests[0][1]["text"]):
        tokens = []
        for part in text.split("[MASK]"):
            tokens += ["[MASK]", *tokenizer.tokenize(part)]
        tokens = ["[CLS]", *tokens[1:][: LENGTH - 2], "[SEP]"]
        ids = tokenizer.convert_tokens_to_ids(tokens)
        positions = [i for i, token in enumerate(tokens) if token == "[MASK]"]
        counts.append(len(positions))
        found = outputs["tokens"][row], outputs["probabilities"][row]
        assert not any("".join(tokens) for tokens in found[0][counts[-1] :])
        assert not found[1][counts[-1] :].any()
        if not positions:
            continue
        logits = served.model(
            {
                "input_ids": tf.constant([ids]),
                "masked_lm_positions": tf.constant([positions]),
            }
        )["masked_lm_logits"]
        values, best = tf.math.top_k(tf.nn.softmax(logits[0]), 10)
        np.testing.assert_allclose(
            found[1][: counts[-1]], values.numpy(), atol=1e-5
        )
        for tokens, expected in zip(found[0], best.numpy(), strict=False):
            assert tokens.tolist() == tokenizer.convert_ids_to_tokens(expected)
    assert outputs["num_masks"].tolist() == counts
    assert counts[-3:] == [1, 2, 2]


def test_a_mask_is_never_a_row_without_a_word(tmp_path):
    """Models are released with more rows than WordPieces."""
    tokens = [*TOKENIZER.tokens[:1500], "[MASK]", "[CLS]"]
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("\n".join(tokens) + "\n")
    tokenizer = FullTokenizer(vocab_file)
    options = ServingOptions(tokenizer, LENGTH, export=LITERT)
    model = export("pretraining", tmp_path / "export", options)
    ids = tokenizer.convert_tokens_to_ids(["[CLS]", "[MASK]", "[SEP]"])
    assert ids[:2] == [1501, 1500]
    logits = model(
        {
            "input_ids": tf.constant([ids]),
            "masked_lm_positions": tf.constant([[1]]),
        }
    )["masked_lm_logits"][0, 0]
    expected = tf.nn.softmax(logits).numpy()[:1502]
    best = np.argsort(-expected)[:1000]
    (found,) = serving.load(tmp_path / "export").fill_mask("[MASK]", top_k=10)[
        "masks"
    ]
    assert [guess["token"] for guess in found] == [tokens[i] for i in best[:10]]
    np.testing.assert_allclose(
        [guess["probability"] for guess in found],
        expected[best[:10]],
        atol=1e-5,
    )


def test_masks_with_the_id_of_padding(tmp_path):
    """Any special token may stand in any row of a vocabulary."""
    tokens = list(TOKENIZER.tokens)
    mask = tokens.index("[MASK]")
    tokens[0], tokens[mask] = tokens[mask], tokens[0]
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("\n".join(tokens) + "\n")
    tokenizer = FullTokenizer(vocab_file)
    options = ServingOptions(tokenizer, LENGTH, export=LITERT)
    export("pretraining", tmp_path / "export", options)
    bert = serving.load(tmp_path / "export")
    texts = ["The [MASK].", "The boat and the sea and [MASK] boat.", "[MASK]"]
    together = bert.fill_mask(texts, top_k=3)
    for text, found in zip(texts, together, strict=True):
        alone = bert.fill_mask(text, top_k=3)
        assert len(found["masks"]) == 1
        for ours, its in zip(found["masks"], alone["masks"], strict=True):
            np.testing.assert_equal(
                [guess["token"] for guess in ours],
                [guess["token"] for guess in its],
            )


@pytest.mark.parametrize(
    "text, words",
    [
        ("York\u2014often", "York \u2014 often"),
        ("York,\u2014\u2014often", "York , \u2014\u2014 often"),
        ("York--often", "York -- often"),
        ("York\u2026Anna...Bob", "York \u2026 Anna ... Bob"),
        ("York\u2015often\u2014", "York \u2015 often \u2014"),
        ("the sea and (a storm)!", "the sea and ( a storm )!"),
        # Words of CoNLL's files.
        ("O'Brien Franco-German 1990\u20131995", None),
    ],
)
def test_dashes_between_words_are_words(text, words, load):
    found = load("ner").tag(text)
    assert found["words"] == (words or text).split()
    assert [text[start:end] for start, end in found["spans"]] == found["words"]


@pytest.mark.parametrize(
    "name", ["squad", "classifier", "ner", "pretraining", "features"]
)
def test_an_export_holds_one_tokenizer(exports, name):
    found = saved_model_pb2.SavedModel()
    found.ParseFromString((exports[name].path / "saved_model.pb").read_bytes())
    functions = found.meta_graphs[0].graph_def.library.function
    names = [function.signature.name for function in functions]
    # Named after `TokenizerLayer._tokenize`; "tokenize" is a signature.
    assert sum("__inference__tokenize_" in name for name in names) == 1
