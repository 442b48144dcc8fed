"""Evaluates a model in pretraining: Google's metrics, and the loss."""

import dataclasses
import functools

import numpy as np
import tensorflow as tf
from absl import logging

import modeling
from data.arrays import FeatureArrays, FloatArray
from data.io import record_datasets
from model_folders.scores import Evaluation, Scores
from modeling.base_loss import sum_terms
from modeling.tensors import PretrainerOutputs, Tensor
from training.config.pretraining_config import PretrainingConfig
from training.loop.batch_predictor import BatchPredictor
from training.loop.once_per_step import evaluate_once_per_step
from training.loop.trainer import Trainer

# A run of fewer steps is a trial, of which nobody expects anything.
_MIN_STEPS = 100
# Smallest difference between the accuracies of a model that learns something
# and of one that does not.
_MIN_GAIN = 0.01


@dataclasses.dataclass(frozen=True)
class PretrainingEvaluation(Evaluation):
    """The evaluation of a model in pretraining.

    Attributes:
        step: number of steps that trained the weights.
        scores: Google's metrics, and "loss".
        baseline_accuracy: accuracy of guessing the most frequent masked
            WordPiece of the records, 0 if nothing is masked. The weights do not
            matter.
    """

    baseline_accuracy: float


class PretrainingEvaluator:
    """Evaluates the weights of a model in pretraining.

    It reads at most --max_eval_steps batches.

    Args:
        config: the batch size, and --max_eval_steps.
        records: the records to evaluate on.
        trainer: the Trainer, with the weights to evaluate.
    """

    def __init__(
        self,
        config: PretrainingConfig,
        records: record_datasets.Records,
        trainer: Trainer,
    ) -> None:
        self._config = config
        self._records = records
        self._predictor: BatchPredictor[PretrainerOutputs] = BatchPredictor(
            trainer.model, jit_compile=config.devices.jit_compile
        )
        self._run_weights = trainer.run_weights
        # Bind once, because each new function is traced.
        self._metrics_of = functools.partial(
            pretraining_metrics,
            has_next_sentence=config.pretraining.next_sentence,
        )
        self._evaluate_once = evaluate_once_per_step(
            trainer.run_weights, self._evaluate_step
        )

    def evaluate(self) -> PretrainingEvaluation:
        """Evaluates the current weights, each step only once."""
        return self._evaluate_once()

    def _evaluate_step(self) -> PretrainingEvaluation:
        """Computes the metrics, and the accuracy of guessing."""
        config = self._config
        dataset = record_datasets.create_dataset(
            self._records,
            config.pretraining.eval_batch_size,
            is_training=False,
            trims_padding=config.trims_padding,
        )
        counts: FloatArray = np.zeros(0)
        sums: dict[str, FloatArray] = {}
        batches = dataset.take(config.pretraining.max_eval_steps)
        for features, metrics in self._predictor.compute_metrics(
            batches, self._metrics_of
        ):
            counts = add_masked_counts(counts, features)
            for name, pair in metrics.items():
                sums[name] = sums.get(name, 0.0) + np.array(pair, np.float64)
        scores = {
            name: float(total / divisor) if divisor else 0.0
            for name, (total, divisor) in sums.items()
        }
        num_masked = counts.sum()
        return PretrainingEvaluation(
            self._run_weights.global_step,
            Scores(scores),
            baseline_accuracy=(
                float(counts.max() / num_masked) if num_masked else 0.0
            ),
        )


def add_masked_counts(
    counts: FloatArray, features: FeatureArrays
) -> FloatArray:
    """Returns the counts plus those of the masked WordPieces of a batch.

    Args:
        counts: how often each id was masked, [ids]. It may end before an id
            that the batch contains.
        features: features of the batch.
    """
    ids = features["masked_lm_ids"].ravel()
    weights = features["masked_lm_weights"].ravel()
    size = max(len(counts), int(ids.max(initial=0)) + 1)
    padded_counts = np.pad(counts, (0, size - len(counts)))
    return padded_counts + np.bincount(ids, weights, minlength=size)


def pretraining_metrics(
    outputs: PretrainerOutputs,
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


def warn_of_no_progress(evaluation: PretrainingEvaluation) -> None:
    """Logs a warning if the masked LM is not better than a guess.

    On any text, a model first learns how frequent each WordPiece is, within
    some hundred steps. Its loss falls meanwhile, and its accuracy becomes that
    of always guessing the most frequent WordPiece. Only a model that reads the
    other words gets beyond this accuracy, and a model that diverged never does.
    So compare with this guess, not with the first weights, which may be those
    of a trained model.

    Args:
        evaluation: the evaluation after the training.
    """
    accuracy = evaluation.scores.overall["masked_lm_accuracy"]
    step = evaluation.step
    baseline_accuracy = evaluation.baseline_accuracy
    if step >= _MIN_STEPS and accuracy < baseline_accuracy + _MIN_GAIN:
        logging.warning(
            "After %d steps, masked_lm_accuracy is %.4f, and guessing the most "
            "frequent WordPiece reaches %.4f: the model has not learned from "
            "the context yet. Train for more steps, or with another "
            "--learning_rate.",
            step,
            accuracy,
            baseline_accuracy,
        )
