"""Pretraining on TFRecords, with masks or without; see `run`."""

import functools
from typing import Any

import tensorflow as tf
from absl import logging

import modeling
from data.io import feature_specs, record_checks, tfrecords
from data.pretraining import filled_masks
from data.pretraining.dynamic_masking import DynamicMasking
from training import text_samples
from training.options import PretrainingOptions
from training.outputs import run_settings
from training.steps import building, distillation, runner
from training.tasks import checks

# The metric of --target_accuracy.
_ACCURACY = "masked_lm_accuracy"


def check_options(options: PretrainingOptions) -> modeling.BertConfig:
    """Refuses contradictory options before any long work.

    Returns:
        configuration of the model.

    Raises:
        ValueError: an option contradicts another, or a file.
        OSError: a file is missing.
    """
    checks.check_command(options)
    if options.batch_sizes.warmup and options.is_tpu:
        raise ValueError(
            "--batch_size_warmup cannot run on a TPU, which needs one shape"
        )
    if options.max_predictions_per_seq > options.max_seq_length:
        raise ValueError(
            f"--max_predictions_per_seq={options.max_predictions_per_seq} is "
            f"more than --max_seq_length={options.max_seq_length}; give both "
            "as the records were made"
        )
    if options.target_accuracy is not None and not options.eval_input_file:
        raise ValueError(
            f"--target_accuracy={options.target_accuracy} needs "
            "--eval_input_file, the records on which it is to be reached"
        )
    return checks.check_model(options)


def run(
    options: PretrainingOptions, config: modeling.BertConfig
) -> runner.Run | None:
    """Trains and evaluates as the options say.

    Args:
        options: PretrainingOptions.
        config: configuration of the model.

    Returns:
        the Run; None on a worker that is not the chief, which writes nothing.

    Raises:
        ValueError: a record or the run in the folder does not fit.
        OSError: a file is missing.
    """
    records = find_records(options, "input_file", config.vocab_size)
    eval_records = None
    if options.eval_input_file:
        eval_records = find_records(
            options, "eval_input_file", config.vocab_size
        )
    plan = _create_plan(options, config, records, eval_records)
    trained = runner.Run(options, plan)
    files = [*records.files, *(eval_records.files if eval_records else ())]
    with record_checks.naming_corrupt_files(files):
        if options.do_train:
            _train(trained, options, records, eval_records)
        if options.quantizes:
            trained.trainer.quantize(
                _create_eval_dataset(options, eval_records or records),
                options.quantize_ranges == "static",
            )
        if options.do_eval:
            evaluated = eval_records or records
            # Other records would break the curve.
            is_of_curve = run_settings.are_evaluated(
                options.output_dir, evaluated.files
            )
            results = _evaluate(
                trained, options, evaluated, trained.global_step
            )
            results["global_step"] = trained.global_step
            if is_of_curve:
                trained.history.add("eval", trained.global_step, results)
            trained.write_results("eval_results.txt", results)
    _report_target(trained, options.target_accuracy)
    return trained if trained.is_chief else None


def find_records(
    options: PretrainingOptions, name: str, vocab_size: int | None
) -> tfrecords.Records:
    """Returns the records that an option names, each file checked.

    Args:
        options: PretrainingOptions.
        name: "input_file" or "eval_input_file".
        vocab_size: the model's number of WordPieces; None = not checked.

    Raises:
        ValueError: the records do not match the options.
        OSError: a file is missing.
    """
    files = tfrecords.expand_patterns(getattr(options, name), name)
    logging.info("*** Input Files ***")
    for file in files:
        logging.info("  %s", file)
    dynamic_masking = None
    if tfrecords.are_masked(files):
        spec = feature_specs.pretraining_features(
            options.max_seq_length, options.max_predictions_per_seq
        )
    else:
        spec = feature_specs.unmasked_features(options.max_seq_length)
        if not options.vocab_file:
            raise ValueError(
                f"{files[0]} is without masks; give --vocab_file, the "
                "vocabulary that it was made with"
            )
        options.check_shares()
        dynamic_masking = DynamicMasking(
            options.vocab_file,
            options.max_predictions_per_seq,
            options,
            options.seed,
        )
    record_checks.check_records(files, spec, vocab_size)
    return tfrecords.Records(files, spec, dynamic_masking)


def _create_plan(
    options: PretrainingOptions,
    config: modeling.BertConfig,
    records: tfrecords.Records,
    eval_records: tfrecords.Records | None,
) -> building.Plan:
    """Returns the model, loss, length and settings of a run."""
    evaluated = {}
    if eval_records:
        files = eval_records.files
        evaluated["eval_input_file"] = run_settings.fingerprint(files)
    create_model = functools.partial(
        modeling.BertPretrainer, left_to_right=options.left_to_right
    )
    loss = modeling.PretrainingLoss(options.next_sentence)
    teacher = None
    if options.do_train and options.teacher:
        teacher = distillation.Teacher(options, create_model, loss)
    return building.Plan(
        create_model=functools.partial(create_model, config),
        loss=loss,
        num_train_steps=options.num_train_steps if options.do_train else None,
        num_warmup_steps=options.num_warmup_steps,
        max_seq_length=options.max_seq_length,
        settings={
            "input_file": run_settings.fingerprint(records.files),
            "next_sentence": options.next_sentence,
            "left_to_right": options.left_to_right,
            "batch_size_warmup": options.batch_size_warmup,
            **_masking_settings(options, records),
            **evaluated,
        },
        teacher=teacher,
    )


def _masking_settings(
    options: PretrainingOptions, records: tfrecords.Records
) -> dict[str, Any]:
    """Returns the masking options, if the records are without masks.

    Raises:
        ValueError: such flags are given, but the records have masks.
    """
    if records.dynamic_masking is not None:
        return options.masking
    for name in options.masking:
        if name in options.given_flags:
            raise ValueError(
                f"--{name} is for records without masks; those of "
                f"{records.files[0]} have theirs, from "
                "create_pretraining_data.py"
            )
    return {}


def _train(
    run: runner.Run,
    options: PretrainingOptions,
    records: tfrecords.Records,
    eval_records: tfrecords.Records | None,
) -> None:
    """Trains on `records`, and evaluates on `eval_records` if there are any."""

    def create_dataset(batch_size: int, skip_records: int) -> tf.data.Dataset:
        return tfrecords.create_dataset(
            records,
            batch_size,
            is_training=True,
            seed=options.seed,
            skip_records=skip_records,
            trim=options.unpads,
        )

    evaluation = None
    if eval_records:
        evaluation = run.create_evaluation(
            lambda: _evaluate_while_training(run, options, eval_records),
            options.eval_steps,
            "loss",
            higher_is_better=False,
        )
    run.train(
        create_dataset,
        describe_batch=lambda batch_size, first: tfrecords.describe_records(
            records.files, options.seed, first, batch_size
        ),
        evaluation=evaluation,
        num_predictions=options.max_predictions_per_seq,
    )


def _evaluate(
    run: runner.Run,
    options: PretrainingOptions,
    records: tfrecords.Records,
    step: int,
) -> dict[str, float]:
    """Returns the original's metrics over at most --max_eval_steps batches."""
    dataset = _create_eval_dataset(options, records)
    metrics = functools.partial(
        pretraining_metrics, has_next_sentence=options.next_sentence
    )
    results = run.trainer.evaluate(dataset, metrics, options.max_eval_steps)
    if options.vocab_file and options.summary_steps:
        for features, outputs in run.trainer.predict(
            dataset.take(1), 1, "Showing"
        ):
            rows = filled_masks.describe(
                features, outputs["masked_lm_logits"], options.vocab_file
            )
            run.history.add_samples(step, "samples", text_samples.spread(rows))
    return results


def _create_eval_dataset(
    options: PretrainingOptions, records: tfrecords.Records
) -> tf.data.Dataset:
    return tfrecords.create_dataset(
        records,
        options.eval_batch_size,
        is_training=False,
        trim=options.unpads,
    )


def _evaluate_while_training(
    run: runner.Run, options: PretrainingOptions, records: tfrecords.Records
) -> dict[str, float]:
    """Returns the metrics, and logs if they first reach the target."""
    results = _evaluate(run, options, records, run.trainer.step)
    target = options.target_accuracy
    if (
        target is not None
        and results[_ACCURACY] >= target
        and run.history.first_reached(_ACCURACY, target) is None
    ):
        logging.info(
            "Masked LM accuracy %.4f reached the target %g at step %d (%.2f "
            "hours).",
            results[_ACCURACY],
            target,
            run.trainer.step,
            run.clock.hours,
        )
    return results


def _report_target(run: runner.Run, target: float | None) -> None:
    """Adds to the summary when the target accuracy was first reached."""
    if target is None:
        return
    line = run.history.first_reached(_ACCURACY, target)
    if line is None:
        logging.info("--target_accuracy=%g was not reached", target)
        return
    names = ("step", "hours", "examples")
    found = {name: line[name] for name in names}
    found[_ACCURACY] = line["metrics"][_ACCURACY]
    logging.info("--target_accuracy=%g was first reached: %s", target, found)
    run.summary.add("target_accuracy", {"target": target, **found})


def pretraining_metrics(
    outputs: dict[str, tf.Tensor],
    features: dict[str, tf.Tensor],
    has_next_sentence: bool = True,
) -> dict[str, tuple[Any, Any]]:
    """Returns {name: (sum, weight)} of the original's eval metrics.

    Args:
        outputs: of BertPretrainer.
        features: the batch.
        has_next_sentence: False omits those of next sentence prediction, which
            is not trained.
    """
    loss = modeling.PretrainingLoss(has_next_sentence)
    sums, weights = loss.sums(outputs, features), loss.weights(features)
    metrics = {name: (sums[name], weights[name]) for name in loss.names}
    masked = features["masked_lm_weights"]
    right = tf.argmax(outputs["masked_lm_logits"], -1, tf.int32)
    right = tf.cast(right == features["masked_lm_ids"], tf.float32)
    metrics[_ACCURACY] = (
        tf.reduce_sum(right * masked),
        tf.reduce_sum(masked),
    )
    if not has_next_sentence:
        return metrics
    next_sentence = tf.argmax(outputs["next_sentence_logits"], -1, tf.int32)
    labels = tf.reshape(features["next_sentence_labels"], [-1])
    right = tf.cast(next_sentence == labels, tf.float32)
    metrics["next_sentence_accuracy"] = (
        tf.reduce_sum(right),
        tf.cast(tf.size(right), tf.float32),
    )
    return metrics
