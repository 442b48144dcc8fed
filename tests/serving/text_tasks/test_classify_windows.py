"""Labels of texts of many windows, against the Python path."""

from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import exporting
import modeling
import serving
from data.classification.label_codec import LabelCodec, pool_logits
from data.probabilities import to_probabilities
from data.text.token_windows import cut_spans
from serving import engines
from serving.engines import NetworkInput
from tests.support.serving.exports import (
    FORMAT,
    LABELS,
    LENGTH,
    SMALL,
    TEXTS,
    TOKENIZER,
    create_model,
    create_options,
)

pytestmark = pytest.mark.slow

MODES = ["classification", "multilabel", "regression"]
# WordPieces between the starts of two windows.
STRIDE = 9
TEXTS_WITH_WORDS = [text for text in TEXTS if text.strip()]


def pooled_logits(model, texts, length, stride):
    """Returns the logits of texts from the model itself, [N, num_labels]."""
    cls, sep = TOKENIZER.convert_tokens_to_ids(["[CLS]", "[SEP]"])
    rows = []
    for text in texts:
        ids = TOKENIZER.convert_tokens_to_ids(TOKENIZER.tokenize(text))
        spans = cut_spans(max(len(ids), 1), length - 2, stride)
        windows = [[cls, *ids[i : i + size], sep] for i, size in spans]
        inputs = [NetworkInput(window, len(window)) for window in windows]
        logits = model(engines.pad_batch(inputs, length)).numpy()
        (pooled,) = pool_logits(logits, [0])
        rows.append(pooled)
    return np.stack(rows)


def labels_of(outputs, mode):
    """Returns the label or labels of each text from a signature's outputs."""
    labels = outputs["label"].numpy().tolist()
    if mode == "classification":
        return [label.decode() for label in labels]
    return [[label.decode() for label in row if label] for row in labels]


class Answered(NamedTuple):
    """A classifier of one mode that reads windows, and what it answers.

    Attributes:
        mode: the output mode.
        bert: the export, as Python calls it.
        graph: the signatures of the same export.
        replies: the replies of `bert` to TEXTS_WITH_WORDS.
        outputs: the outputs of the graph for them.
        expected: what the model itself computes for them, [N, labels].
    """

    mode: str
    bert: serving.TextModel
    graph: dict
    replies: list
    outputs: dict
    expected: np.ndarray


@pytest.fixture(scope="module", params=MODES)
def answered(request, tmp_path_factory):
    """The `Answered` of a mode, whose texts have several windows."""
    mode = request.param
    folder = tmp_path_factory.mktemp(mode) / "model"
    labels = None if mode == "regression" else LABELS
    model = create_model(modeling.BertClassifier, len(labels or "1"))
    settings = {"labels": labels, "output_mode": mode, "doc_stride": STRIDE}
    exporting.export(
        folder, model, settings, create_options(predict_batch_size=4)
    )
    logits = pooled_logits(model, TEXTS_WITH_WORDS, LENGTH, STRIDE)
    bert = serving.load(folder)
    graph = tf.saved_model.load(str(folder)).signatures
    texts = tf.constant(TEXTS_WITH_WORDS)
    return Answered(
        mode=mode,
        bert=bert,
        graph=graph,
        replies=bert.classify(TEXTS_WITH_WORDS),
        outputs=graph["classify_text"](text=texts),
        expected=to_probabilities(logits, mode),
    )


def numbers_of(reply):
    """Returns the probabilities, or the one value, of a reply."""
    return [*reply.get("probabilities", {0: reply.get("value")}).values()]


def test_python_averages_the_windows_of_all_of_a_text(answered):
    numbers = [numbers_of(reply) for reply in answered.replies]
    np.testing.assert_allclose(numbers, answered.expected, rtol=1e-4, atol=1e-5)
    assert not any("num_wordpieces_cut" in reply for reply in answered.replies)


def test_the_graph_averages_the_windows_of_all_of_a_text(answered):
    (name,) = answered.outputs.keys() & {"values", "probabilities"}
    numbers = np.reshape(answered.outputs[name], answered.expected.shape)
    np.testing.assert_allclose(numbers, answered.expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("answered", MODES[:2], indirect=True)
def test_python_and_the_graph_choose_the_same_labels(answered):
    labels = [reply["label"] for reply in answered.replies]
    assert labels_of(answered.outputs, answered.mode) == labels


def test_a_model_that_reads_windows_reads_no_pairs(answered):
    with pytest.raises(ValueError, match="text_b"):
        answered.bert.classify("a boat", "the sea")
    (_, inputs) = answered.graph["classify"].structured_input_signature
    assert [*inputs] == ["text_a"]


@pytest.mark.parametrize("mode", MODES[:2])
def test_confident_windows_are_served_as_they_are_evaluated(mode, tmp_path):
    """The probabilities of these windows are 0 or 1 in float32."""
    model = create_model(modeling.BertClassifier, len(LABELS))
    weights = model.head.output_weights
    weights.assign(weights * 64.0 / np.abs(weights).max())
    options = create_options(f"{FORMAT},saved_model", max_seq_length=5)
    folder = tmp_path / "model"
    settings = {"labels": LABELS, "output_mode": mode, "doc_stride": 3}
    exporting.export(folder, model, settings, options)
    rng, words = np.random.default_rng(0), TOKENIZER.tokens[-800:]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(300)]
    logits = pooled_logits(model, texts, 5, 3)
    assert np.abs(logits).max() > 40
    expected = LabelCodec(mode, LABELS).decode_labels(logits)
    for engine in (*SMALL, "saved_model"):
        replies = serving.load(folder, engine=engine).classify(texts)
        assert [reply["label"] for reply in replies] == expected
    graph = tf.saved_model.load(str(folder)).signatures["serving_default"]
    assert labels_of(graph(text=tf.constant(texts)), mode) == expected
