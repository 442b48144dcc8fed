"""Evaluations of pretraining share one graph, and the scores of a step."""

import collections
import functools

import numpy as np
import pytest

import modeling
from data.io import feature_specs, record_datasets
from model_folders.scores import Scores
from tests.support import models, pretraining_records
from tests.support.log_lines import logged_warnings
from tests.support.two_weight_model import create_loop_trainer
from training.config.pretraining_config import PretrainingConfig
from training.pretraining import evaluation


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Path of pretraining records."""
    folder = tmp_path_factory.mktemp("records")
    pretraining_records.create_records(
        folder,
        "records",
        max_seq_length=128,
        max_predictions_per_seq=20,
        num_shards=1,
    )
    return str(folder / "records-00000-of-00001")


@pytest.fixture
def create_evaluator(path, trainer, tmp_path):
    """Function that returns a new PretrainingEvaluator of the trainer."""
    config = PretrainingConfig.from_values(
        input_file=path,
        output_dir=str(tmp_path / "run"),
        max_eval_steps=2,
    )
    return functools.partial(
        evaluation.PretrainingEvaluator,
        config,
        record_datasets.Records(
            [path], feature_specs.pretraining_spec(128, 20)
        ),
        trainer,
    )


@pytest.fixture
def trainer(tmp_path):
    """Trainer of a tiny model, before its first step."""
    config = models.tiny_config(vocab_size=1600, max_position_embeddings=128)
    return create_loop_trainer(
        tmp_path / "run",
        model=models.built(modeling.BertPretrainer(config)),
        loss=modeling.PretrainingLoss(),
    )


@pytest.fixture
def traces(monkeypatch):
    """List with an entry for each time that the metrics are traced."""
    traces = []
    metrics_of = evaluation.pretraining_metrics

    @functools.wraps(metrics_of)
    def traced_metrics(*arguments, **options):
        traced = metrics_of(*arguments, **options)
        traces.append(traced)
        return traced

    monkeypatch.setattr(evaluation, "pretraining_metrics", traced_metrics)
    return traces


def halve_weights(trainer):
    """Changes what the model computes."""
    for variable in trainer.model.trainable_variables:
        variable.assign(variable * 0.5)


def test_the_scores_of_a_step_are_remembered(create_evaluator, trainer):
    """Scores belong to the step, not to the weights."""
    evaluator = create_evaluator()
    first = evaluator.evaluate()
    halve_weights(trainer)
    assert evaluator.evaluate() == first


def test_another_step_is_evaluated_in_the_same_graph(
    create_evaluator, trainer, traces
):
    evaluator = create_evaluator()
    first = evaluator.evaluate()
    halve_weights(trainer)
    trainer.run_weights.global_step = 1
    second = evaluator.evaluate()
    assert len(traces) == 1
    assert first.scores.overall["loss"] != second.scores.overall["loss"]


def test_a_new_graph_computes_the_same_bits(create_evaluator, trainer, traces):
    evaluator = create_evaluator()
    evaluator.evaluate()
    halve_weights(trainer)
    trainer.run_weights.global_step = 1
    assert create_evaluator().evaluate() == evaluator.evaluate()
    assert len(traces) == 2


def test_the_baseline_predicts_the_most_frequent_masked_word(
    create_evaluator, path
):
    baseline_accuracy = create_evaluator().evaluate().baseline_accuracy
    dataset = record_datasets.create_dataset(
        record_datasets.Records(
            [path], feature_specs.pretraining_spec(128, 20)
        ),
        8,
        is_training=False,
    )
    masked_ids = collections.Counter(
        int(word_id)
        for batch in dataset.take(2)
        for word_id, weight in zip(
            batch["masked_lm_ids"].numpy().ravel(),
            batch["masked_lm_weights"].numpy().ravel(),
            strict=True,
        )
        if weight
    )
    [(_, count)] = masked_ids.most_common(1)
    assert baseline_accuracy == pytest.approx(count / masked_ids.total())


def test_the_counts_of_batches_add_up():
    counts = np.zeros(0)
    for ids, weights in (
        ([[5, 5], [7, 0]], [[1, 1], [1, 0]]),
        (
            [[9, 5], [0, 0]],
            [[1, 1], [0, 0]],
        ),
    ):
        counts = evaluation.add_masked_counts(
            counts,
            {
                "masked_lm_ids": np.array(ids),
                "masked_lm_weights": np.array(weights, np.float32),
            },
        )
    assert counts.tolist() == [0, 0, 0, 0, 0, 3, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("accuracy", "step", "is_named"),
    [
        (0.0, 300, True),
        (0.07, 300, True),
        (0.075, 5000, True),
        (0.09, 300, False),
        (0.0, 99, False),
        (0.6, 5000, False),
    ],
)
def test_an_accuracy_no_better_than_the_baseline_is_warned_of(
    caplog, accuracy, step, is_named
):
    scores = Scores({"masked_lm_accuracy": accuracy})
    evaluation.warn_of_no_progress(
        evaluation.PretrainingEvaluation(step, scores, baseline_accuracy=0.07)
    )
    assert bool(logged_warnings(caplog)) == is_named
