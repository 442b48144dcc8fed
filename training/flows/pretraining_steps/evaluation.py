"""Evaluates a model in pretraining: Google's metrics, and the loss."""

import functools

import numpy as np
import tensorflow as tf

import modeling
from data.arrays import FeatureArrays, FloatArray
from data.io import record_datasets
from model_folders.results import Scores
from modeling.base_loss import sum_terms
from modeling.tensors import Tensor
from training.config.pretraining_config import PretrainingConfig
from training.loop.best_step import evaluate_once_per_step
from training.loop.trainer import Evaluate, Trainer


class MaskedCounts:
    """Counts the masked WordPieces of an evaluation by their ids."""

    def __init__(self) -> None:
        self._counts: FloatArray = np.zeros(0)

    def add(self, features: FeatureArrays) -> None:
        """Counts the masked WordPieces of a batch."""
        ids = features["masked_lm_ids"].ravel()
        weights = features["masked_lm_weights"].ravel()
        size = max(len(self._counts), int(ids.max(initial=0)) + 1)
        before = np.pad(self._counts, (0, size - len(self._counts)))
        self._counts = before + np.bincount(ids, weights, minlength=size)

    @property
    def baseline_accuracy(self) -> float:
        """Accuracy of guessing the most frequent of the WordPieces."""
        total = self._counts.sum()
        return float(self._counts.max() / total) if total else 0.0


def create_pretraining_evaluation(
    config: PretrainingConfig,
    records: record_datasets.Records,
    counts: MaskedCounts,
) -> Evaluate:
    """Returns a function (trainer) -> metrics on the records.

    The function evaluates at most --max_eval_steps batches, and the weights of
    each step only once. It adds the masked WordPieces of the batches to
    `counts`.
    """
    # Bind once, because the Trainer traces each new function.
    metrics_of = functools.partial(
        pretraining_metrics, has_next_sentence=config.pretraining.next_sentence
    )

    def evaluate(trainer: Trainer) -> Scores:
        dataset = record_datasets.create_dataset(
            records,
            config.pretraining.eval_batch_size,
            is_training=False,
            trims_padding=config.trims_padding,
        )
        sums: dict[str, FloatArray] = {}
        batches = dataset.take(config.pretraining.max_eval_steps)
        # The number of batches is unknown, so the progress bar shows no total.
        for features, metrics in trainer.predict(
            batches, description="Evaluating", metrics=metrics_of
        ):
            counts.add(features)
            for name, pair in metrics.items():
                sums[name] = sums.get(name, 0.0) + np.array(pair, np.float64)
        means = {
            name: float(total / divisor) if divisor else 0.0
            for name, (total, divisor) in sums.items()
        }
        return {**means, "global_step": trainer.run_weights.global_step}

    return evaluate_once_per_step(evaluate)


def pretraining_metrics(
    outputs: dict[str, tf.Tensor],
    features: dict[str, tf.Tensor],
    *,
    has_next_sentence: bool = True,
) -> dict[str, tuple[Tensor, Tensor]]:
    """Computes Google's eval metrics, and "loss", for one batch.

    Add a new metric here.

    Args:
        outputs: outputs of a BertPretrainer.
        features: features of the batch.
        has_next_sentence: whether to include the metrics of next sentence
            prediction.

    Returns:
        {name: (sum, divisor)}. The metric is sum / divisor.
    """
    loss = modeling.PretrainingLoss(has_next_sentence)
    sums = loss.sums(outputs, features)
    divisors = loss.divisors(features)
    metrics = {name: (sums[name], divisors[name]) for name in loss.term_names}
    total = sum_terms(loss.means(sums, divisors))
    metrics["loss"] = total, tf.constant(1.0)
    masked = features["masked_lm_weights"]
    predicted = tf.argmax(outputs["masked_lm_logits"], -1, tf.int32)
    right = tf.cast(predicted == features["masked_lm_ids"], tf.float32)
    metrics["masked_lm_accuracy"] = (
        tf.reduce_sum(right * masked),
        tf.reduce_sum(masked),
    )
    if has_next_sentence:
        predicted = tf.argmax(outputs["next_sentence_logits"], -1, tf.int32)
        labels = tf.reshape(features["next_sentence_labels"], [-1])
        right = tf.cast(predicted == labels, tf.float32)
        num_pairs = tf.cast(tf.size(right), tf.float32)
        metrics["next_sentence_accuracy"] = tf.reduce_sum(right), num_pairs
    return metrics
