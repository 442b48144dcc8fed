"""Runs pretraining on records, masked in advance or during training."""

import dataclasses
import functools
import json
import zlib
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
    ##### Checks, before any slow work #####
    # Connect the workers before TensorFlow uses a device.
    devices.strategy_of(config)
    bert_config = checks.check(config, preset)
    tokenizer = None
    if config.vocab_file:
        start_from = config.init_checkpoint or config.weights
        tokenizer = load_tokenizer(config, bert_config.vocab_size, start_from)
    if preset:
        preset.check_identity(
            bert_config, tokenizer, config.network, config.do_train
        )
    create_model = functools.partial(
        modeling.BertPretrainer, left_to_right=config.left_to_right
    )
    loss = modeling.PretrainingLoss(config.next_sentence)
    teacher = num_steps = None
    if config.do_train:
        num_steps = config.num_train_steps, config.num_warmup_steps
    if config.do_train and config.teacher:
        teacher = load_teacher(config, bert_config, tokenizer, create_model)

    ##### Records #####
    expected = bert_config, tokenizer
    records = evaluated = find_records(config, "input_file", *expected)
    if config.eval_input_file:
        evaluated = find_records(config, "eval_input_file", *expected)
    dev_set: list[Any] = [config.max_eval_steps * config.eval_batch_size]
    # Training records may be too large to read them for a checksum.
    if config.eval_input_file:
        dev_set += fingerprints.fingerprint(evaluated.files)
    # Checksums of large files are saved, so that a resume need not read them.
    known = {**preset.training.get("checksums", {})} if preset else {}
    identify = functools.partial(fingerprints.fingerprint_records, known=known)
    settings = preset.training if preset else {}
    if config.do_train:
        found = fingerprints.describe_start(
            config, preset, bert_config, tokenizer
        )
        found["input_file"] = identify(records.files)
        if config.keeps_best:
            found["eval_input_file"] = identify(evaluated.files)
        found["checksums"] = known
        settings = run_folder.check_resumed(config, preset, found)

    ##### Weights (for their order, see `restore_or_load`) #####
    trainer = Trainer.create(
        config,
        functools.partial(create_model, bert_config),
        loss,
        num_steps,
        teacher,
        settings=settings,
        dev_set=zlib.crc32(json.dumps(dev_set).encode()),
        tokenizer=tokenizer,
    )
    trainer.restore_or_load()

    evaluate = functools.partial(evaluate_on, evaluated)
    with tfrecords.naming_wrong_records([records, evaluated]):
        ##### Train #####
        if num_steps:
            callbacks: list[Callback] = []
            if config.keeps_best:
                callbacks.append(
                    BestStep(trainer, evaluate, config.eval_steps, "loss")
                )
            trainer.fit(records, num_steps[0], callbacks)

        ##### Evaluate #####
        if config.do_eval:
            results = evaluate(trainer)
            results["global_step"] = trainer.global_step
            trainer.history.add("eval", trainer.global_step, results)
            trainer.write_results("eval_results.txt", results)

    ##### Export #####
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
    records: tfrecords.Records, trainer: Trainer
) -> dict[str, float]:
    """Returns the metrics of at most --max_eval_steps batches of records."""
    config: Any = trainer.config
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
