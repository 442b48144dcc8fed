"""Evaluations of pretraining share one graph, and the scores of a step."""

import functools

import modeling
from command_line import config_values
from data.io import feature_specs, tfrecords
from tests.support import models, script_runner
from tests.support.two_weights import create_trainer
from training import pretraining, pretraining_end
from training.pretraining_config import PretrainingConfig


def test_evaluations_trace_once_and_remember_the_scores_of_a_step(
    tmp_path, monkeypatch
):
    script_runner.create_records(
        tmp_path,
        "records",
        max_seq_length=128,
        max_predictions_per_seq=20,
        num_shards=1,
    )
    files = [str(tmp_path / "records-00000-of-00001")]
    records = tfrecords.Records(
        files, feature_specs.pretraining_features(128, 20)
    )
    config = config_values.create_config(
        PretrainingConfig,
        input_file=files[0],
        output_dir=str(tmp_path / "run"),
        max_eval_steps=2,
    )
    bert_config = models.tiny_config(
        vocab_size=1600, max_position_embeddings=128
    )
    trainer = create_trainer(
        model=models.built(modeling.BertPretrainer(bert_config)),
        loss=modeling.PretrainingLoss(),
    )
    traced = []
    metrics_of = pretraining.pretraining_metrics

    @functools.wraps(metrics_of)
    def traced_metrics(*arguments, **options):
        traced.append(1)
        return metrics_of(*arguments, **options)

    monkeypatch.setattr(pretraining, "pretraining_metrics", traced_metrics)
    counts = pretraining_end.MaskedCounts()
    evaluate = pretraining.create_evaluation(config, records, counts)
    first = evaluate(trainer)
    assert len(traced) == 1
    for variable in trainer.model.trainable_variables:
        variable.assign(variable * 0.5)
    # The scores belong to the step, not to the weights.
    assert evaluate(trainer) == first
    trainer.global_step = 1
    second = evaluate(trainer)
    assert len(traced) == 1
    # A graph that was traced for the new weights computes the same bits.
    create = pretraining.create_evaluation
    assert create(config, records, counts)(trainer) == second
    assert len(traced) == 2
    assert first["loss"] != second["loss"]
