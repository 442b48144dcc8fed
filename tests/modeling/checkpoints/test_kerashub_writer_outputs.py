"""KerasHub itself computes what our models do, from presets of both."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

import modeling
from data.text.tokenization import FullTokenizer
from tests.support.model_cases import assert_close
from tests.support.models import create_batch
from tests.support.weights.kerashub_presets import (
    LABELS,
    add_noise,
    create_perturbed,
    write_preset,
    write_release,
)

# Words with accents, in upper case and of several scripts.
TEXTS = ["The boat was OLD, cafés and Ångström!", "東京 x+y  [ok] naïve"]


@pytest.fixture(scope="module")
def theirs():
    """KerasHub's models."""
    keras_hub = pytest.importorskip(
        "keras_hub", reason="keras-hub is not installed (requirements/dev.txt)"
    )
    return keras_hub.models


BATCH = create_batch([9, 16, 4], 16)
THEIR_BATCH = {
    "token_ids": BATCH["input_ids"],
    "padding_mask": BATCH["input_mask"],
    "segment_ids": BATCH["segment_ids"],
}


def check_encoder(model, backbone):
    """Compares what an encoder of ours and KerasHub's compute."""
    outputs, expected = model(*BATCH.values()), backbone(THEIR_BATCH)
    for name in ("sequence_output", "pooled_output"):
        mask = 1.0
        if name == "sequence_output":
            mask = BATCH["input_mask"][..., None]
        assert_close(
            outputs[name] * mask, expected[name] * mask, tolerance=1e-5
        )


def check_features(theirs, ours):
    """Compares the ids of the tokenizers. KerasHub pads further."""
    length = ours["input_ids"].shape[1]
    for name, our_name in zip(THEIR_BATCH, BATCH, strict=True):
        value = np.asarray(theirs[name])
        np.testing.assert_array_equal(value[:, :length], ours[our_name])
        assert not value[:, length:].any()


@pytest.mark.slow
def test_kerashub_computes_what_our_encoder_does(theirs, tmp_path):
    model = create_perturbed(modeling.BertModel)
    write_preset(write_release(tmp_path / "tf1", model), tmp_path / "preset")
    preset = str(tmp_path / "preset")
    check_encoder(model, theirs.BertBackbone.from_preset(preset))


@dataclasses.dataclass(frozen=True)
class Classifiers:
    """A classifier of ours, and KerasHub's from its preset.

    Attributes:
        ours: our classifier.
        theirs: KerasHub's.
        preset: folder of the preset.
        backbone: KerasHub's encoder from the preset.
        activation: what KerasHub's classifier does with the logits.
    """

    ours: modeling.BertClassifier
    theirs: Any
    preset: str
    backbone: Any
    activation: Callable[[np.ndarray], np.ndarray]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("classification", True, np.asarray), id="classes"),
        pytest.param(("multilabel", False, special.expit), id="labels"),
        pytest.param(("regression", False, np.asarray), id="numbers"),
    ],
)
def classifiers(request, theirs, tmp_path_factory):
    """The Classifiers of an output mode, cased or not."""
    mode, lower_case, activation = request.param
    folder = tmp_path_factory.mktemp("classifiers")
    model = create_perturbed(modeling.BertClassifier, 3)
    source = write_release(
        folder / "tf1",
        model,
        LABELS,
        lower_case,
        output_mode=mode,
        max_seq_length=32,
    )
    write_preset(source, folder / "preset")
    preset = str(folder / "preset")
    return Classifiers(
        model,
        theirs.BertTextClassifier.from_preset(preset),
        preset,
        theirs.BertBackbone.from_preset(preset),
        activation,
    )


@pytest.mark.slow
def test_kerashub_computes_the_scores_of_our_classifier(classifiers):
    scores = classifiers.activation(np.asarray(classifiers.ours(BATCH)))
    assert_close(classifiers.theirs(THEIR_BATCH), scores, tolerance=1e-5)


@pytest.mark.slow
def test_kerashub_computes_what_the_encoder_of_our_classifier_does(classifiers):
    check_encoder(classifiers.ours.bert, classifiers.backbone)


@pytest.mark.slow
def test_kerashub_makes_the_same_inputs_of_texts(classifiers):
    tokenizer = FullTokenizer.from_preset(classifiers.preset)
    features = tokenizer(TEXTS, max_length=32)
    check_features(classifiers.theirs.preprocessor(TEXTS), features)


@pytest.mark.slow
def test_kerashub_makes_the_same_inputs_of_pairs_that_are_too_long(classifiers):
    """The longer text loses its last words."""
    tokenizer = FullTokenizer.from_preset(classifiers.preset)
    pairs = [TEXTS[0], TEXTS[1] * 2], [TEXTS[1] * 3, TEXTS[0] * 4]
    # Without the name, KerasHub takes a pair for texts and their labels.
    tensors = tuple(map(tf.constant, pairs))
    check_features(
        classifiers.theirs.preprocessor(x=tensors),
        tokenizer(*pairs, max_length=32),
    )


@pytest.mark.slow
def test_kerashub_predicts_the_scores_of_our_classifier_from_texts(classifiers):
    tokenizer = FullTokenizer.from_preset(classifiers.preset)
    logits = classifiers.ours(tokenizer(TEXTS, max_length=32))
    scores = classifiers.activation(np.asarray(logits))
    assert_close(classifiers.theirs.predict(TEXTS), scores, tolerance=1e-5)


def create_backbone(theirs):
    """Returns a small backbone of KerasHub, with new weights."""
    return theirs.BertBackbone(
        vocabulary_size=1600,
        num_layers=2,
        num_heads=4,
        hidden_dim=32,
        intermediate_dim=64,
        max_sequence_length=24,
        num_segments=3,
    )


@pytest.mark.slow
def test_a_backbone_of_kerashub_computes_the_same_here(theirs, tmp_path):
    backbone = create_backbone(theirs)
    add_noise(backbone)
    backbone.save_to_preset(str(tmp_path))
    check_encoder(modeling.BertModel.from_preset(tmp_path), backbone)


@pytest.mark.slow
def test_a_text_classifier_of_kerashub_computes_the_same_here(theirs, tmp_path):
    classifier = theirs.BertTextClassifier(create_backbone(theirs), 3)
    add_noise(classifier)
    classifier.save_to_preset(str(tmp_path))
    model = modeling.BertClassifier.from_preset(tmp_path)
    assert_close(model(BATCH), classifier(THEIR_BATCH), tolerance=1e-5)


@pytest.mark.slow
def test_a_masked_lm_of_kerashub_computes_the_same_here(theirs, tmp_path):
    """KerasHub's head uses the exact gelu, and another epsilon."""
    masked_lm = theirs.BertMaskedLM(create_backbone(theirs))
    add_noise(masked_lm)
    masked_lm.save_to_preset(str(tmp_path))
    model = modeling.BertPretrainer.from_preset(tmp_path)
    check_encoder(model.bert, masked_lm.backbone)
    positions = np.array([[1, 3, 5], [0, 15, 7], [2, 3, 1]], "int32")
    outputs = model({**BATCH, "masked_lm_positions": positions})
    expected = masked_lm({**THEIR_BATCH, "mask_positions": positions})
    assert_close(outputs["masked_lm_logits"], expected, tolerance=1e-3)
