"""Labels of texts of many windows, against the Python path."""

import numpy as np
import pytest
import tensorflow as tf

import modeling
import serving
from data.classification.label_decoding import (
    LabelDecoder,
    pool_logits,
    to_probabilities,
)
from data.text.token_windows import cut_spans
from serving import engines
from serving.engines import Input
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


def pooled_logits(model, texts, length, stride):
    """Returns the logits of texts from the model itself, [N, num_labels]."""
    cls, sep = TOKENIZER.convert_tokens_to_ids(["[CLS]", "[SEP]"])
    rows = []
    for text in texts:
        ids = TOKENIZER.convert_tokens_to_ids(TOKENIZER.tokenize(text))
        spans = cut_spans(max(len(ids), 1), length - 2, stride)
        windows = [[cls, *ids[i : i + size], sep] for i, size in spans]
        inputs = [Input(window, len(window)) for window in windows]
        rows.append(
            pool_logits(model(engines.pad_batch(inputs, length)).numpy(), [0])[
                0
            ]
        )
    return np.stack(rows)


def labels_of(outputs, mode):
    """Returns the label or labels of each text from a signature's outputs."""
    labels = outputs["label"].numpy().tolist()
    if mode == "classification":
        return [label.decode() for label in labels]
    return [[label.decode() for label in row if label] for row in labels]


@pytest.mark.parametrize("mode", MODES)
def test_python_and_the_graph_read_all_of_a_text(mode, tmp_path):
    labels = None if mode == "regression" else LABELS
    texts = [*filter(str.strip, TEXTS)]
    model = create_model(modeling.BertClassifier, len(labels or "1"))
    serving.export(
        tmp_path / "model",
        model,
        {"labels": labels, "output_mode": mode, "doc_stride": 9},
        create_options(predict_batch_size=4),
    )
    bert = serving.load(tmp_path / "model")
    answers = bert.classify(texts)
    assert not [answer for answer in answers if "num_wordpieces_cut" in answer]
    logits = pooled_logits(model, texts, LENGTH, 9)
    expected = to_probabilities(logits, mode)
    graph = tf.saved_model.load(str(tmp_path / "model"))
    outputs = graph.signatures["classify_text"](text=tf.constant(texts))
    if mode == "regression":
        outcome = [[answer["value"]] for answer in answers]
        its = outputs["values"][:, None]
    else:
        outcome = [[*answer["probabilities"].values()] for answer in answers]
        its = outputs["probabilities"]
        ours = [answer["label"] for answer in answers]
        assert labels_of(outputs, mode) == ours
    np.testing.assert_allclose(outcome, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(its, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="text_b"):
        bert.classify("a boat", "the sea")
    (_, inputs) = graph.signatures["classify"].structured_input_signature
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
    serving.export(folder, model, settings, options)
    rng, words = np.random.default_rng(0), TOKENIZER.tokens[-800:]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(300)]
    logits = pooled_logits(model, texts, 5, 3)
    assert np.abs(logits).max() > 40
    expected = LabelDecoder(mode, LABELS).labels(logits)
    for engine in (*SMALL, "saved_model"):
        outcome = serving.load(folder, engine=engine).classify(texts)
        assert [answer["label"] for answer in outcome] == expected
    graph = tf.saved_model.load(str(folder)).signatures["serving_default"]
    assert labels_of(graph(text=tf.constant(texts)), mode) == expected
