"""Labels from SavedModels, against the Python that the scripts run."""

from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

import modeling
from exporting.classify_signatures import (
    create_classify_signatures,
)
from exporting.signatures import ExportSignatures
from tests.support.serving.exports import (
    LABELS,
    TOKENIZER,
    create_model,
    create_options,
)
from tests.support.tokenizers.packed_texts import pack

# Each word is one WordPiece.
WORDS = ["the boat is on the sea and the", "light is on"]
MAX_SEQ_LENGTH = 6
# {doc_stride: the words of each window of each of WORDS}. A window has room for
# four, beside [CLS] and [SEP].
WINDOWS = {
    0: [["the boat is on"], ["light is on"]],
    2: [
        ["the boat is on", "is on the sea", "the sea and the"],
        ["light is on"],
    ],
}
# {output mode: (name of the output, function from logits to its values)}
OUTPUTS = {
    "classification": (
        "probabilities",
        lambda logits: special.softmax(logits, -1),
    ),
    "multilabel": ("probabilities", special.expit),
    "regression": ("values", lambda logits: logits[:, 0]),
}


class Answered(NamedTuple):
    """The signatures of one mode, and what it answers.

    Attributes:
        mode: the output mode.
        signatures: the signatures of the export.
        outputs: the outputs of `classify_text` for WORDS.
        logits: the means of the logits that the model itself computes for the
            windows of each text, [N, labels].
    """

    mode: str
    signatures: ExportSignatures
    outputs: dict
    logits: np.ndarray


def window_logits(model, words):
    """Returns the logits of a window from the model itself, [labels]."""
    tokens = ["[CLS]", *words.split(), "[SEP]"]
    ids = TOKENIZER.convert_tokens_to_ids(tokens)
    (logits,) = model({"input_ids": np.array([ids], np.int32)}).numpy()
    return logits


def name_case(case):
    """Returns the name of a mode with a doc_stride."""
    mode, stride = case
    return f"{mode}-{stride}"


@pytest.fixture(
    scope="module",
    params=[(mode, stride) for mode in OUTPUTS for stride in WINDOWS],
    ids=name_case,
)
def answered(request):
    """The `Answered` of a mode and a doc_stride."""
    mode, stride = request.param
    labels = None if mode == "regression" else LABELS
    model = create_model(modeling.BertClassifier, len(labels or "1"))
    signatures = create_classify_signatures(
        model,
        {"labels": labels, "output_mode": mode, "doc_stride": stride},
        create_options(max_seq_length=MAX_SEQ_LENGTH, predict_batch_size=3),
    )
    logits = [
        np.mean([window_logits(model, words) for words in windows], axis=0)
        for windows in WINDOWS[stride]
    ]
    outputs = signatures.text_signatures["classify_text"].function(
        tf.constant(WORDS)
    )
    return Answered(mode, signatures, outputs, np.stack(logits))


def test_the_numbers_are_those_of_the_models_own_logits(answered):
    name, from_logits = OUTPUTS[answered.mode]
    expected = from_logits(answered.logits)
    np.testing.assert_allclose(answered.outputs[name], expected, atol=1e-5)


def test_both_signatures_answer_alike(answered):
    classify = answered.signatures.text_signatures["classify"]
    # No text has a second one.
    empty = [tf.constant(["", ""])] * (len(classify.inputs) - 1)
    outputs = classify.function(tf.constant(WORDS), *empty)
    assert outputs.keys() == answered.outputs.keys()
    for name, value in outputs.items():
        np.testing.assert_array_equal(value, answered.outputs[name], name)


def parametrize_cases(*cases):
    """Parametrizes a test by some of the modes and doc_strides."""
    return pytest.mark.parametrize(
        "answered", cases, indirect=True, ids=name_case
    )


@parametrize_cases(("multilabel", 0), ("multilabel", 2))
def test_a_text_has_each_label_that_is_more_probable_than_not(answered):
    positive = answered.logits > 0
    # Some labels are chosen, and some are not.
    assert {*positive.flat} == {False, True}
    expected = np.where(positive, LABELS, "")
    labels = answered.outputs["label"].numpy().astype(str)
    assert labels.tolist() == expected.tolist()


@parametrize_cases(("regression", 0), ("regression", 2))
def test_a_regression_has_no_labels(answered):
    assert [*answered.outputs] == ["values"]


@parametrize_cases(*((mode, 0) for mode in OUTPUTS))
def test_a_model_that_cuts_texts_reads_pairs(answered):
    inputs = answered.signatures.text_signatures["classify"].inputs
    assert [spec.name for spec in inputs] == ["text_a", "text_b"]


@parametrize_cases(*((mode, 2) for mode in OUTPUTS))
def test_a_model_that_reads_windows_reads_no_pairs(answered):
    inputs = answered.signatures.text_signatures["classify"].inputs
    assert [spec.name for spec in inputs] == ["text_a"]


def test_classify_returns_probabilities_and_labels(exports):
    served = exports["classifier"]
    for (_, inputs), outputs in zip(
        served.requests[:2], served.outputs, strict=False
    ):
        logits = served.model(pack(served, *inputs.values()))
        expected = special.softmax(logits, -1)
        assert len({*expected.argmax(-1)}) > 1
        result = outputs["probabilities"]
        np.testing.assert_allclose(result, expected, atol=1e-5)
        labels = [LABELS[index] for index in expected.argmax(-1)]
        assert outputs["label"].tolist() == labels
        assert outputs["labels"].tolist() == [LABELS] * len(labels)
