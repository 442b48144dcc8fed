"""Pretraining without padding is the pretraining with it."""

import signal

import numpy as np
import pytest
import tensorflow as tf

import modeling
from data.io import feature_specs, tfrecords
from data.io.records import RecordWriter, encode_example
from data.pretraining.dynamic_masking import DynamicMasking
from data.pretraining.options import MaskingOptions
from data.text.tokenization import FullTokenizer
from tests import models, script_runner
from tests.checkpoints import assert_same_bits, values
from training import checkpointing, pretraining
from training.prediction import BatchPredictor

VOCAB = script_runner.SAMPLES / "vocab.txt"
VOCAB_SIZE = 1600
LENGTH = 48
NUM_PREDICTIONS = 6


def write_records(path, are_masked, number=12):
    """Writes instances, most of them short, of random WordPieces."""
    rng = np.random.default_rng(0)
    with RecordWriter([path]) as writer:
        for length in [LENGTH, LENGTH, *rng.integers(6, 24, number - 2)]:
            places = np.arange(LENGTH)
            mask = (places < length).astype(int)
            ids = rng.integers(110, VOCAB_SIZE, LENGTH) * mask
            ids[[0, length - 1]] = 101, 102
            features = {
                "input_ids": ids,
                "input_mask": mask,
                "segment_ids": (places > length // 2) * mask,
                "next_sentence_labels": rng.integers(0, 2, 1),
            }
            if are_masked:
                used = min(NUM_PREDICTIONS, int(length) // 5)
                chosen = np.arange(NUM_PREDICTIONS) < used
                positions = rng.choice(
                    np.arange(1, length - 1), used, replace=False
                )
                features["masked_lm_positions"] = np.zeros(NUM_PREDICTIONS, int)
                features["masked_lm_positions"][:used] = np.sort(positions)
                features["masked_lm_ids"] = (
                    rng.integers(110, VOCAB_SIZE, NUM_PREDICTIONS) * chosen
                )
                features["masked_lm_weights"] = chosen.astype(float)
            lists = {name: value.tolist() for name, value in features.items()}
            writer.write(encode_example(lists))


def create_batches(path, are_masked, trim, is_training, batch_size=12):
    masking = None
    if not are_masked:
        masking = DynamicMasking(
            FullTokenizer(VOCAB), NUM_PREDICTIONS, MaskingOptions()
        )
    spec = feature_specs.pretraining_features(LENGTH, NUM_PREDICTIONS)
    if not are_masked:
        spec = feature_specs.unmasked_features(LENGTH)
    return tfrecords.create_dataset(
        tfrecords.Records([str(path)], spec, masking),
        batch_size,
        is_training=is_training,
        seed=3,
        trim=trim,
    )


def create_model(unpad, left_to_right=False):
    config = models.tiny_config(
        vocab_size=VOCAB_SIZE,
        max_position_embeddings=LENGTH,
        **models.NO_DROPOUT,
    )
    model = modeling.BertPretrainer(
        config,
        left_to_right=left_to_right,
        unpad=unpad,
        seed=1,
        dtype="float64",
    )
    model.build()
    return model


@pytest.mark.parametrize(
    "are_masked, next_sentence, left_to_right",
    [(True, True, False), (False, True, False), (True, False, True)],
)
def test_losses_and_gradients_are_the_same(
    tmp_path, are_masked, next_sentence, left_to_right
):
    path = tmp_path / "train.tfrecord"
    write_records(path, are_masked)
    loss = modeling.PretrainingLoss(next_sentence)
    found = []
    for unpads in (False, True):
        batches = create_batches(path, are_masked, unpads, is_training=True)
        features = next(iter(batches))
        model = create_model(unpads, left_to_right)
        with tf.GradientTape() as tape:
            outputs = model(features, training=True)
            total, parts = loss(outputs, features)
        variables = [v.value for v in model.trainable_variables]
        gradients = tape.gradient(
            total, variables, unconnected_gradients="zero"
        )
        found.append([total, parts, [*map(tf.convert_to_tensor, gradients)]])
    for padded, packed in zip(*map(tf.nest.flatten, found), strict=True):
        np.testing.assert_allclose(packed, padded, rtol=0, atol=1e-8)
    assert max(float(tf.norm(gradient)) for gradient in found[0][2]) > 0.1


def test_evaluations_are_the_same(tmp_path):
    path = tmp_path / "dev.tfrecord"
    write_records(path, are_masked=True)
    padded, packed = (
        [
            metrics
            for _, metrics in BatchPredictor(
                create_model(unpads), jit_compile=False
            ).predict(
                create_batches(path, True, unpads, False, batch_size=5),
                metrics=pretraining.pretraining_metrics,
            )
        ]
        for unpads in (False, True)
    )
    assert len(packed) == 3
    for one, other in zip(*map(tf.nest.flatten, (padded, packed)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_bits(
    tiny, pretraining_flags, tmp_path
):
    flags = pretraining_flags | {
        "bert_config_file": tiny / "one_block/bert_config.json",
        "trim_padding": True,
        "do_train": True,
        "num_train_steps": 20,
        "save_checkpoints_steps": 3,
    }
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    script_runner.run(
        "run_pretraining.py", tmp_path, **flags, output_dir=undisturbed
    ).check()
    done = script_runner.run(
        "run_pretraining.py",
        tmp_path,
        kill_when=lambda: checkpointing.checkpoint_steps(killed),
        **flags,
        output_dir=killed,
    )
    assert done.status == -signal.SIGKILL
    done = script_runner.run(
        "run_pretraining.py", tmp_path, **flags, output_dir=killed
    )
    assert "Restored the checkpoint" in done.check().stderr
    assert_same_bits(values(killed, 20), values(undisturbed, 20))
