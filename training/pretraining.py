"""Runs pretraining on records, masked in advance or during training."""

import dataclasses
import functools
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

import modeling
from data.io import feature_specs, tfrecords
from data.io.records import count_records
from data.io.text_files import expand_patterns
from data.pretraining.dynamic_masking import DynamicMasking
from data.pretraining.options import MaskingOptions
from data.text.tokenization import FullTokenizer, load_tokenizer
from modeling.presets import Preset
from training import checks, devices, exporting, fingerprints, run_folder
from training.callbacks import Callback
from training.callbacks.best_step import BestStep
from training.distillation import load_teacher
from training.pretraining_config import PretrainingConfig
from training.trainer import Trainer


def run(config: PretrainingConfig, preset: Preset | None) -> None:
    """Trains, evaluates and exports the model, depending on the flags.

    Args:
        config: the flags, as `resolve` completed them.
        preset: result of `read_preset`, None for random weights.

    Raises:
        ValueError: a record, or the earlier run in --output_dir, does not match
            the flags.
        OSError: a file is missing or cannot be written.
    """
    # Connect the workers before TensorFlow uses a device.
    devices.strategy_of(config)
    # All checks come before any slow work.
    bert_config = checks.check(config, preset)
    tokenizer = read_tokenizer(config, preset, bert_config)
    create_model = functools.partial(
        modeling.BertPretrainer, left_to_right=config.left_to_right
    )
    teacher = None
    if config.do_train and config.teacher:
        teacher = load_teacher(config, bert_config, tokenizer, create_model)
    records, evaluated = find_all_records(config, bert_config, tokenizer)
    num_steps = None
    if config.do_train:
        num_steps = (config.num_train_steps, config.num_warmup_steps)
    trainer = Trainer.create(
        config,
        functools.partial(create_model, bert_config),
        modeling.PretrainingLoss(config.next_sentence),
        num_steps,
        teacher,
        tokenizer=tokenizer,
        settings=find_settings(
            config, preset, bert_config, tokenizer, records, evaluated
        ),
        dev_set=dev_set_checksum(config, evaluated),
    )
    # See there for the order in which weights are looked for.
    trainer.restore_or_load()
    evaluate = functools.partial(evaluate_on, config, evaluated)
    with tfrecords.naming_wrong_records([records, evaluated]):
        if config.do_train:
            train(config, trainer, records, evaluate)
        if config.do_eval:
            evaluate_at_the_end(trainer, evaluate)
    finish(config, trainer)


def finish(config: PretrainingConfig, trainer: Trainer) -> None:
    """Exports the model if the flags say so, and completes the run's folder."""
    if config.export_dir or config.export_weights:
        # Export the best step's weights if this run saved them. Later commands
        # load the same weights from --output_dir.
        trainer.restore_best()
        logging.info("Exporting %s", trainer.described_step)
    if not trainer.is_chief:
        # Only the chief writes files.
        return
    if config.export_dir:
        exporting.export_pretrainer(config, trainer)
    trainer.finish()
    trainer.write_card()


def read_tokenizer(
    config: PretrainingConfig,
    preset: Preset | None,
    bert_config: modeling.BertConfig,
) -> FullTokenizer | None:
    """Reads --vocab_file, and compares it and the network with the weights.

    Returns None without --vocab_file.

    Raises:
        ValueError: the weights were trained with another network or tokenizer.
    """
    tokenizer = None
    if config.vocab_file:
        start_from = config.init_checkpoint or config.weights
        tokenizer = load_tokenizer(config, bert_config.vocab_size, start_from)
    if preset:
        preset.check_identity(
            bert_config, tokenizer, config.network, config.do_train
        )
    return tokenizer


def find_settings(
    config: PretrainingConfig,
    preset: Preset | None,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
    records: tfrecords.Records,
    evaluated: tfrecords.Records,
) -> Mapping[str, Any]:
    """Returns the settings to record with the weights.

    Raises:
        ValueError: the run in --output_dir began with other settings or
            records.
    """
    settings = preset.training if preset else {}
    if not config.do_train:
        return settings
    # Checksums of large files are saved, so that a resume need not read them.
    known = {**settings.get("checksums", {})}
    identify = functools.partial(fingerprints.fingerprint_records, known=known)
    found = fingerprints.describe_start(config, preset, bert_config, tokenizer)
    found["input_file"] = identify(records.files)
    if config.keeps_best:
        found["eval_input_file"] = identify(evaluated.files)
    found["checksums"] = known
    return run_folder.check_resumed(config, preset, found)


def dev_set_checksum(
    config: PretrainingConfig, evaluated: tfrecords.Records
) -> int:
    """Returns a checksum of the records that evaluations read.

    Records of --input_file count only by the number of examples, because they
    may be too large to read them for a checksum.
    """
    described: list[Any] = [config.max_eval_steps * config.eval_batch_size]
    if config.eval_input_file:
        described += fingerprints.fingerprint(evaluated.files)
    return zlib.crc32(json.dumps(described).encode())


def train(
    config: PretrainingConfig,
    trainer: Trainer,
    records: tfrecords.Records,
    evaluate: Callable[[Trainer], dict[str, float]],
) -> None:
    """Trains on records, and evaluates meanwhile if the flags say so."""
    callbacks: list[Callback] = []
    if config.keeps_best:
        callbacks.append(BestStep(trainer, evaluate, config.eval_steps, "loss"))
    trainer.fit(records, config.num_train_steps, callbacks)


def evaluate_at_the_end(
    trainer: Trainer, evaluate: Callable[[Trainer], dict[str, float]]
) -> None:
    """Evaluates the trained weights, and writes eval_results.txt."""
    results = evaluate(trainer)
    results["global_step"] = trainer.global_step
    trainer.history.add("eval", trainer.global_step, results)
    trainer.write_results("eval_results.txt", results)


def find_all_records(
    config: PretrainingConfig,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
) -> tuple[tfrecords.Records, tfrecords.Records]:
    """Finds and checks the records to train on, and those to evaluate on."""
    records = find_records(config, "input_file", bert_config, tokenizer)
    if not config.eval_input_file:
        return records, records
    return records, find_records(
        config, "eval_input_file", bert_config, tokenizer
    )


def find_records(
    config: PretrainingConfig,
    name: str,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
) -> tfrecords.Records:
    """Finds and checks the records of --input_file or --eval_input_file.

    `name` is the name of the flag. `tokenizer` is None without --vocab_file.
    """
    files = expand_patterns(getattr(config, name), name)
    logging.info("--%s: %d files, the first is %s", name, len(files), files[0])
    dynamic_masking = None
    if tfrecords.are_masked(files):
        spec = feature_specs.pretraining_features(
            config.max_seq_length, config.max_predictions_per_seq
        )
    else:
        spec = feature_specs.unmasked_features(config.max_seq_length)
        if not tokenizer:
            raise ValueError(
                f"The records in {files[0]} are not masked yet, so training "
                "masks them and needs the vocabulary. Set --vocab_file to the "
                "vocabulary that the file was created with"
            )
        config.check_shares()
        dynamic_masking = DynamicMasking(
            tokenizer, config.max_predictions_per_seq, config, config.seed
        )
    masking = {field.name for field in dataclasses.fields(MaskingOptions)}
    masking &= config.given_flags.keys()
    if masking and name == "input_file" and not dynamic_masking:
        raise ValueError(
            f"--{min(masking)} is only for records that training masks, but "
            f"the records in {files[0]} contain masks. Remove the flag"
        )
    spec = feature_specs.bounded(
        spec, bert_config.vocab_size, bert_config.type_vocab_size
    )
    tfrecords.check_records(files, spec)
    if not config.do_train:
        # TensorFlow crashes if a record is shorter than its header says. In
        # training, `fingerprint_records` checks all records.
        limit = config.max_eval_steps * config.eval_batch_size
        count_records(files, limit)
    return tfrecords.Records(files, spec, dynamic_masking)


def evaluate_on(
    config: PretrainingConfig, records: tfrecords.Records, trainer: Trainer
) -> dict[str, float]:
    """Returns the metrics of at most --max_eval_steps batches of records."""
    dataset = tfrecords.create_dataset(
        records, config.eval_batch_size, is_training=False, trim=config.unpads
    )
    metrics_of = functools.partial(
        pretraining_metrics, has_next_sentence=config.next_sentence
    )
    sums: dict[str, np.ndarray] = {}
    batches = dataset.take(config.max_eval_steps)
    # The number of batches is unknown, so the progress bar shows no total.
    for _, metrics in trainer.predict(batches, None, "Evaluating", metrics_of):
        for name, pair in metrics.items():
            sums[name] = sums.get(name, 0.0) + np.array(pair, np.float64)
    return {
        name: float(total / weight) if weight else 0.0
        for name, (total, weight) in sums.items()
    }


def pretraining_metrics(
    outputs: dict[str, tf.Tensor],
    features: dict[str, tf.Tensor],
    has_next_sentence: bool = True,
) -> dict[str, tuple[Any, Any]]:
    """Computes Google's eval metrics, and "loss", for one batch.

    Add a new metric here.

    Args:
        outputs: outputs of a BertPretrainer.
        features: features of the batch.
        has_next_sentence: whether to include the metrics of next sentence
            prediction.

    Returns:
        {name: (sum, weight)}. The metric is sum / weight.
    """
    loss = modeling.PretrainingLoss(has_next_sentence)
    sums, weights = loss.sums(outputs, features), loss.weights(features)
    metrics = {name: (sums[name], weights[name]) for name in loss.epsilon}
    metrics["loss"] = loss(outputs, features)[0], tf.constant(1.0)
    masked = features["masked_lm_weights"]
    right = tf.argmax(outputs["masked_lm_logits"], -1, tf.int32)
    right = tf.cast(right == features["masked_lm_ids"], tf.float32)
    metrics["masked_lm_accuracy"] = (
        tf.reduce_sum(right * masked),
        tf.reduce_sum(masked),
    )
    if has_next_sentence:
        predicted = tf.argmax(outputs["next_sentence_logits"], -1, tf.int32)
        labels = tf.reshape(features["next_sentence_labels"], [-1])
        right = tf.cast(predicted == labels, tf.float32)
        count = tf.cast(tf.size(right), tf.float32)
        metrics["next_sentence_accuracy"] = tf.reduce_sum(right), count
    return metrics
