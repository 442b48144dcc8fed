"""Exports that read long texts in windows."""

import numpy as np
import pytest

import modeling
import serving
from data.classification import windows
from data.text.windows import cut_spans
from tests.serving.conftest import (
    LABELS,
    LENGTH,
    TEXTS,
    TOKENIZER,
    create_model,
)

CASES = [
    ("classification", "mean"),
    ("multilabel", "max"),
    ("regression", "mean"),
    ("calibrated", "max"),
]


def expected_outputs(model, mode, pooling, temperature):
    """Returns what each text gets, from the model itself."""
    rows = []
    for text in TEXTS:
        ids = TOKENIZER.convert_tokens_to_ids(TOKENIZER.tokenize(text))
        logits = []
        for start, length in cut_spans(max(len(ids), 1), LENGTH - 2, 9):
            part = [ids[start : start + length]]
            cls, sep = TOKENIZER.convert_tokens_to_ids(["[CLS]", "[SEP]"])
            array = np.array([[cls, *part[0], sep]], np.int32)
            features = {
                "input_ids": array,
                "input_mask": np.ones_like(array),
                "segment_ids": np.zeros_like(array),
            }
            logits.append(np.array(model(features))[0])
        pooled = windows.pool(np.stack(logits), [0], mode, pooling)
        rows.append(windows.to_probabilities(pooled / temperature, mode)[0])
    return np.stack(rows)


@pytest.mark.parametrize("mode, pooling", CASES)
def test_python_and_the_graph_read_all_of_a_text(mode, pooling, tmp_path):
    temperature = 1.0
    if mode == "calibrated":
        mode, temperature = "classification", 3.0
    labels = None if mode == "regression" else LABELS
    model = create_model(modeling.BertClassifier, len(labels or "1"))
    serving.export_classifier(
        tmp_path / "model",
        model,
        labels,
        serving.ServingOptions(TOKENIZER, LENGTH, predict_batch_size=4),
        mode,
        windows.WindowOptions(doc_stride=9, window_pooling=pooling),
        temperature,
    )
    bert = serving.load(tmp_path / "model")
    assert bert.settings["doc_stride"] == 9
    assert bert.settings["window_pooling"] == pooling
    answers = bert.classify(TEXTS)
    assert not [each for each in answers if "num_wordpieces_cut" in each]
    expected = expected_outputs(model, mode, pooling, temperature)
    outputs = bert.engine.call("classify_text", {"text": TEXTS})
    if mode == "regression":
        found = [[each["value"]] for each in answers]
        graph = outputs["values"][:, None]
    else:
        found = [[*each["probabilities"].values()] for each in answers]
        graph = outputs["probabilities"]
        for answer, label in zip(answers, outputs["label"], strict=True):
            its = [each.decode() for each in np.atleast_1d(label) if each]
            ours = answer["label"]
            assert its == (ours if mode == "multilabel" else [ours])
            assert [*answer["probabilities"]] == LABELS
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(graph, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="doc_stride=9.*accepts no 'text_b'"):
        bert.classify("a boat", "the sea")
    (_, inputs) = bert.engine.signatures["classify"].structured_input_signature
    assert [*inputs] == ["text_a"]
