"""Pretraining without padding is the pretraining with it."""

import numpy as np
import pytest
import tensorflow as tf

import modeling
from data.io import feature_specs, record_datasets
from data.pretraining.dynamic_masking import DynamicMasking
from data.pretraining.pretraining_options import MaskingOptions
from data.text.tokenization import FullTokenizer
from tests.support import models, pretraining_records
from tests.support.paths import SAMPLES
from tests.support.script_runner import split_flags
from training.loop.batch_predictor import BatchPredictor
from training.pretraining import evaluation

VOCAB = SAMPLES / "vocab.txt"
VOCAB_SIZE = 1600
LENGTH = 128
NUM_PREDICTIONS = 20


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """{whether they are masked: path of records}, most of them short."""
    folder = tmp_path_factory.mktemp("records")
    flags = split_flags(f"""
        --max_seq_length={LENGTH} --max_predictions_per_seq={NUM_PREDICTIONS}
        --short_seq_prob=1 --num_shards=1
    """)
    for name, dynamic_masking in (("masked", False), ("unmasked", True)):
        pretraining_records.create_records(
            folder, name, dynamic_masking=dynamic_masking, **flags
        )
    return {
        True: folder / "masked-00000-of-00001",
        False: folder / "unmasked-00000-of-00001",
    }


def create_batches(
    records, are_masked, trims_padding, is_training, batch_size=12
):
    """Returns a dataset of records, masked or to be masked."""
    spec = feature_specs.pretraining_spec(LENGTH, NUM_PREDICTIONS)
    masking = None
    if not are_masked:
        spec = feature_specs.unmasked_pretraining_spec(LENGTH)
        masking = DynamicMasking(
            FullTokenizer(VOCAB), NUM_PREDICTIONS, MaskingOptions()
        )
    return record_datasets.create_dataset(
        record_datasets.Records([str(records[are_masked])], spec, masking),
        batch_size,
        is_training=is_training,
        seed=3,
        trims_padding=trims_padding,
    )


def create_model(trim_padding, left_to_right=False):
    """Returns a pretrainer without dropout, in float64."""
    config = models.tiny_config(
        vocab_size=VOCAB_SIZE,
        max_position_embeddings=LENGTH,
        **models.NO_DROPOUT,
    )
    options = {
        "left_to_right": left_to_right,
        "trim_padding": trim_padding,
        "seed": 1,
    }
    return models.built(
        modeling.BertPretrainer(config, **options, dtype="float64")
    )


@pytest.mark.parametrize(
    ("are_masked", "next_sentence", "left_to_right"),
    [(True, True, False), (False, True, False), (True, False, True)],
)
def test_losses_and_gradients_are_the_same_without_padding(
    records, are_masked, next_sentence, left_to_right
):
    loss = modeling.PretrainingLoss(next_sentence)
    results = []
    for trims_padding in (False, True):
        batches = create_batches(
            records, are_masked, trims_padding, is_training=True
        )
        features = next(iter(batches))
        model = create_model(trims_padding, left_to_right)
        with tf.GradientTape() as tape:
            outputs = model(features, training=True)
            total, parts = loss(outputs, features)
        variables = [variable.value for variable in model.trainable_variables]
        gradients = tape.gradient(
            total, variables, unconnected_gradients="zero"
        )
        results.append([total, parts, [*map(tf.convert_to_tensor, gradients)]])
    for padded, packed in zip(*map(tf.nest.flatten, results), strict=True):
        np.testing.assert_allclose(packed, padded, rtol=0, atol=1e-8)
    assert max(float(tf.norm(gradient)) for gradient in results[0][2]) > 0.1


def test_metrics_of_records_are_the_same_without_padding(records):
    padded, packed = (
        [
            metrics
            for _, metrics in BatchPredictor(
                create_model(trims_padding), jit_compile=False
            ).compute_metrics(
                # The last batch is smaller.
                create_batches(records, True, trims_padding, False, 5).skip(63),
                evaluation.pretraining_metrics,
            )
        ]
        for trims_padding in (False, True)
    )
    assert len(packed) == 3
    for metric, packed_metric in zip(
        *map(tf.nest.flatten, (padded, packed)), strict=True
    ):
        np.testing.assert_allclose(metric, packed_metric, rtol=1e-6, atol=1e-6)
