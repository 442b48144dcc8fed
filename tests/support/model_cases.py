"""Every model by a name, with inputs for each.

For example:

    outputs = MODELS["spans"](seed=1)(create_inputs("spans"))
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray

from data.arrays import FeatureArrays, FloatArray
from modeling import (
    BertClassifier,
    BertModel,
    BertMultipleChoice,
    BertPretrainer,
    BertSpanLabeler,
    BertTokenClassifier,
)
from modeling.base_loss import Loss
from modeling.losses import ClassifierLoss, PretrainingLoss, SpanLoss, TokenLoss
from modeling.tensors import Features, Tensor
from tests.support.models import tiny_config

BATCH_SIZE = 3
NUM_CHOICES = 2
# Of a row, in WordPieces, of which NUM_MASKED are masked in pretraining.
LENGTH = 8
NUM_MASKED = 4
NUM_LABELS = 5
# Hidden size.
WIDTH = 12
VOCAB_SIZE = 40
CONFIG = tiny_config(
    vocab_size=VOCAB_SIZE,
    hidden_size=WIDTH,
    num_attention_heads=3,
    max_position_embeddings=LENGTH,
    type_vocab_size=2,
    initializer_range=0.2,
)
MODELS = {
    "bert": lambda **kwargs: BertModel(CONFIG, **kwargs),
    "pretrainer": lambda **kwargs: BertPretrainer(CONFIG, **kwargs),
    "classifier": lambda **kwargs: BertClassifier(CONFIG, NUM_LABELS, **kwargs),
    "tokens": lambda **kwargs: BertTokenClassifier(
        CONFIG, NUM_LABELS, **kwargs
    ),
    "spans": lambda **kwargs: BertSpanLabeler(CONFIG, **kwargs),
    "choices": lambda **kwargs: BertMultipleChoice(CONFIG, **kwargs),
}
# Dense layers in each model: six in a block, the pooler, the head's own.
NUM_DENSE = dict.fromkeys(MODELS, 13) | {"pretrainer": 14}

# The model with most parts: the others are left to `make test-slow`.
EACH_MODEL = [
    "pretrainer",
    *(
        pytest.param(kind, marks=pytest.mark.slow)
        for kind in MODELS
        if kind != "pretrainer"
    ),
]


def create_inputs(kind: str) -> FeatureArrays:
    """Returns the features that a model reads."""
    features = create_features(kind)
    names = ["input_ids", "input_mask", "segment_ids"]
    if kind == "pretrainer":
        names.append("masked_lm_positions")
    return {name: features[name] for name in names}


def create_features(kind: str = "classifier") -> dict[str, NDArray[Any]]:
    """Returns a batch for a model, with the labels of pretraining and classes.

    At least half of each row are WordPieces, and the rest of it is padding.
    """
    shape: tuple[int, ...] = (BATCH_SIZE, LENGTH)
    if kind == "choices":
        shape = (BATCH_SIZE, NUM_CHOICES, LENGTH)
    masked_shape = (BATCH_SIZE, NUM_MASKED)
    rng = np.random.default_rng(0)
    lengths = rng.integers(LENGTH // 2, LENGTH + 1, (*shape[:-1], 1))
    features = {
        "input_ids": rng.integers(0, VOCAB_SIZE, shape),
        "input_mask": np.arange(LENGTH) < lengths,
        "segment_ids": rng.integers(0, 2, shape),
        "masked_lm_positions": rng.integers(0, LENGTH, masked_shape),
        "masked_lm_ids": rng.integers(0, VOCAB_SIZE, masked_shape),
        "next_sentence_labels": rng.integers(0, 2, (BATCH_SIZE, 1)),
        "label_ids": rng.integers(0, NUM_LABELS, BATCH_SIZE),
    }
    features = {name: value.astype("int32") for name, value in features.items()}
    features["masked_lm_weights"] = np.ones(masked_shape, "float32")
    return features


def create_labels(kind: str) -> dict[str, NDArray[Any]]:
    """Returns the labels that the loss of a model reads."""
    features = create_features()
    ids = features["label_ids"]
    if kind == "tokens":
        return {
            "label_ids": np.tile(ids[:, None], (1, LENGTH)),
            "label_weights": np.ones((BATCH_SIZE, LENGTH), "float32"),
        }
    if kind == "pretrainer":
        return {
            name: features[name] for name in PretrainingLoss().label_features
        }
    names = {"spans": ["start_positions", "end_positions"]}
    return {name: ids % 2 for name in names.get(kind, ["label_ids"])}


def create_loss(kind: str) -> Loss[Any]:
    """Returns the loss of `modeling` with which a model is trained."""
    losses: dict[str, Callable[[], Loss[Any]]] = {
        "pretrainer": PretrainingLoss,
        "tokens": TokenLoss,
        "spans": SpanLoss,
    }
    return losses.get(kind, ClassifierLoss)()


def flat(outputs: object) -> list[FloatArray]:
    """Returns the arrays in nested outputs, in float64."""
    # NumPy's own bfloat16 cannot be compared.
    return [
        keras.ops.convert_to_numpy(keras.ops.cast(output, "float64"))
        for output in keras.tree.flatten(outputs)
    ]


def assert_close(left: object, right: object, tolerance: float = 1e-6) -> None:
    """Compares the arrays in nested outputs."""
    for one, other in zip(flat(left), flat(right), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


def outputs_and_gradients(
    model: keras.Model, training: bool, seed: int | None = None
) -> Callable[[Features], tuple[list[Tensor], list[Tensor]]]:
    """Returns a function of a batch, one graph for all batches of a shape.

    It returns the outputs of a BertModel, zero at padding, and the gradients of
    a loss in which all of them count.
    """

    @tf.function(autograph=False)
    def compute(batch: Features) -> tuple[list[Tensor], list[Tensor]]:
        with tf.GradientTape() as tape:
            outputs = model(batch, training=training, seed=seed)
            pooled = outputs["pooled_output"]
            mask = tf.cast(batch["input_mask"], pooled.dtype)[..., None]
            layers = [layer * mask for layer in outputs["all_encoder_layers"]]
            values = [pooled * mask[:, 0], *layers]
            # Of each output something else.
            terms = [
                tf.sin(value * factor) for factor, value in enumerate(values, 3)
            ]
            loss = tf.add_n([tf.reduce_sum(term) for term in terms])
        variables = [variable.value for variable in model.trainable_variables]
        grads = map(tf.convert_to_tensor, tape.gradient(loss, variables))
        return values, list(grads)

    return compute


def save_and_load(model: keras.Model, folder: Path) -> keras.Model:
    """Returns the model that Keras loads from the file of a model."""
    model.save(folder / "model.keras")
    return keras.saving.load_model(folder / "model.keras")
