"""Guesses from SavedModels, against the Python that the scripts run."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

import serving
from data.text.tokenization import FullTokenizer
from tests.support.serving.exports import (
    LENGTH,
    TOKENIZER,
    create_options,
    export_model,
)
from tests.support.tokenizers.packed_texts import pack


def test_next_sentence_returns_the_probability(exports):
    served = exports["pretraining"]
    features = pack(served, **served.requests[1][1])
    positions = tf.zeros([len(features["input_ids"]), 1], tf.int32)
    logits = served.model({**features, "masked_lm_positions": positions})
    np.testing.assert_allclose(
        served.outputs[1]["probability"],
        special.softmax(logits["next_sentence_logits"], -1)[:, 0],
        atol=1e-5,
    )


def encode_masked(tokenizer, text):
    """Returns (ids, positions of the masks) of a text, cut at LENGTH."""
    tokens = []
    for part in text.split("[MASK]"):
        tokens += ["[MASK]", *tokenizer.tokenize(part)]
    tokens = ["[CLS]", *tokens[1:][: LENGTH - 2], "[SEP]"]
    positions = [i for i, token in enumerate(tokens) if token == "[MASK]"]
    return tokenizer.convert_tokens_to_ids(tokens), positions


@pytest.fixture
def masked(exports):
    """[(ids, positions of the masks)] of the texts that were asked."""
    served = exports["pretraining"]
    texts = served.requests[0][1]["text"]
    return [encode_masked(served.tokenizer, text) for text in texts]


def test_fill_mask_returns_the_best_wordpieces(exports, masked):
    served = exports["pretraining"]
    outputs = served.outputs[0]
    for row, (ids, positions) in enumerate(masked):
        features = {
            "input_ids": tf.constant([ids]),
            "masked_lm_positions": tf.constant([positions], tf.int32),
        }
        logits = served.model(features)["masked_lm_logits"][0]
        values, best = tf.math.top_k(tf.nn.softmax(logits), 10)
        tokens = outputs["tokens"][row][: len(positions)].tolist()
        assert tokens == [
            served.tokenizer.convert_ids_to_tokens(ids_of_mask)
            for ids_of_mask in best.numpy()
        ]
        np.testing.assert_allclose(
            outputs["probabilities"][row][: len(positions)], values, atol=1e-5
        )


def test_fill_mask_counts_the_masks_within_the_length(exports, masked):
    outputs = exports["pretraining"].outputs[0]
    counts = [len(positions) for _, positions in masked]
    # The last text has a third mask, beyond the length of the model.
    assert counts[-3:] == [1, 2, 2]
    assert outputs["num_masks"].tolist() == counts


def test_fill_mask_returns_nothing_after_the_masks_of_a_text(exports, masked):
    outputs = exports["pretraining"].outputs[0]
    for row, (_, positions) in enumerate(masked):
        count = len(positions)
        assert not any(outputs["tokens"][row][count:].ravel().tolist())
        assert not outputs["probabilities"][row][count:].any()


def test_fill_mask_never_answers_with_an_unused_row_of_the_vocabulary(tmp_path):
    """Models are released with more rows than WordPieces."""
    tokens = [*TOKENIZER.tokens[:1500], "[MASK]", "[CLS]"]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens) + "\n")
    tokenizer = FullTokenizer(tmp_path / "vocab.txt")
    options = create_options("litert", tokenizer=tokenizer)
    model = export_model("pretraining", tmp_path / "export", options)
    ids = tokenizer.convert_tokens_to_ids(["[CLS]", "[MASK]", "[SEP]"])
    features = {
        "input_ids": tf.constant([ids]),
        "masked_lm_positions": tf.constant([[1]]),
    }
    expected = tf.nn.softmax(model(features)["masked_lm_logits"][0, 0]).numpy()
    best = np.argsort(-expected[: len(tokens)])[:10]
    bert = serving.load(tmp_path / "export")
    (result,) = bert.fill_mask("[MASK]", top_k=10)["masks"]
    assert [guess["token"] for guess in result] == [tokens[i] for i in best]
    result = [guess["probability"] for guess in result]
    np.testing.assert_allclose(result, expected[best], atol=1e-5)


def test_a_mask_may_have_the_id_of_padding(tmp_path):
    """Any special token may be in any row of a vocabulary."""
    tokens = [*TOKENIZER.tokens]
    mask = tokens.index("[MASK]")
    tokens[0], tokens[mask] = tokens[mask], tokens[0]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens) + "\n")
    tokenizer = FullTokenizer(tmp_path / "vocab.txt")
    options = create_options("saved_model,litert", tokenizer=tokenizer)
    export_model("pretraining", tmp_path / "export", options)
    bert = serving.load(tmp_path / "export", engine="litert")
    saved = tf.saved_model.load(str(tmp_path / "export"))
    # Short texts are padded, with the id 0, to the length of the longest.
    texts = ["The [MASK].", "The boat and the sea and [MASK] boat.", "[MASK]"]
    together = bert.fill_mask(texts, top_k=3)
    graph = saved.signatures["fill_mask"](text=tf.constant(texts))
    assert graph["num_masks"].numpy().tolist() == [1, 1, 1]
    best = graph["tokens"].numpy().astype(str)[:, 0, :3].tolist()
    for text, result, row in zip(texts, together, best, strict=True):
        alone = bert.fill_mask(text, top_k=3)
        for reply in (alone, result):
            ((*guesses,),) = reply["masks"]
            assert [guess["token"] for guess in guesses] == row
