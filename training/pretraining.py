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
from data.text.tokenization import FullTokenizer
from modeling.checkpoints.folders import find_best
from training import checks, fingerprints, start
from training.callbacks.best_step import BestStep
from training.distillation import Teacher
from training.pretraining_config import PretrainingConfig
from training.resolve import read_preset
from training.trainer import Trainer


def run(
    config: PretrainingConfig,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
) -> Trainer | None:
    """Trains and evaluates the model, depending on the flags.

    Returns:
        the Trainer, or None on a worker that is not the chief. Only the chief
        writes files.

    Raises:
        ValueError: a record, or the earlier run in --output_dir, does not match
            the flags.
        OSError: a file is missing.
    """
    ##### Checks and records #####
    folder = read_preset(config)
    checks.check_identity(config, folder, bert_config, tokenizer, {})
    saved = folder.training if folder else {}
    expected = bert_config, tokenizer
    records = evaluated = _find_records(config, "input_file", *expected)
    # Checksums of large files are saved, so that a resume need not read them.
    known = {**saved.get("checksums", {})}
    identify = functools.partial(fingerprints.fingerprint_records, known=known)
    settings: dict[str, Any] = {
        "checksums": known,
        **_masking_settings(config, records),
    }
    if config.do_train:
        settings["input_file"] = identify(records.files)
    if config.eval_input_file:
        evaluated = _find_records(config, "eval_input_file", *expected)
    evaluation = _Evaluation(config, evaluated)
    if config.keeps_best:
        settings["eval_input_file"] = identify(evaluated.files)

    ##### Model and weights #####
    create_model = functools.partial(
        modeling.BertPretrainer, left_to_right=config.left_to_right
    )
    loss = modeling.PretrainingLoss(config.next_sentence)
    teacher = num_steps = None
    if config.do_train:
        num_steps = config.num_train_steps, config.num_warmup_steps
        if config.teacher:
            teacher = Teacher(config, bert_config, create_model, loss)
    shape = config.max_seq_length, config.max_predictions_per_seq
    trainer = start.open_run(
        config,
        functools.partial(create_model, bert_config),
        loss,
        folder,
        num_steps,
        settings,
        evaluation.checksum(),
        teacher=teacher,
        tokenizer=tokenizer,
    )
    callbacks = []
    if config.keeps_best:
        callbacks.append(
            BestStep(trainer, evaluation.evaluate, config.eval_steps, "loss")
        )
    with tfrecords.naming_wrong_records([records, evaluated]):
        ##### Train #####
        if num_steps:
            start.train(trainer, records, num_steps[0], shape, callbacks)

        ##### Evaluate #####
        if config.do_eval:
            step = trainer.global_step
            # If evaluations during training used other records, these results
            # are not comparable, so do not add them to the history.
            recorded = trainer.settings.get("eval_input_file")
            is_of_curve = not recorded or recorded == identify(evaluated.files)
            results = evaluation.evaluate(trainer)
            results["global_step"] = step
            if is_of_curve:
                trainer.history.add("eval", step, results)
            trainer.write_results("eval_results.txt", results)

    ##### Export #####
    if config.export_dir or config.export_weights:
        # Export the best step's weights if this run saved them. Later commands
        # load the same weights from --output_dir.
        if find_best(config.output_dir):
            trainer.restore_best()
        logging.info("Exporting %s", trainer.described_step)
    return trainer if trainer.is_chief else None


def _find_records(
    config: PretrainingConfig,
    name: str,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
) -> tfrecords.Records:
    """Finds and checks the records of --input_file or --eval_input_file.

    `name` is the name of the flag. `tokenizer` is None without --vocab_file.
    """
    files = expand_patterns(getattr(config, name), name)
    logging.info("*** Input Files ***")
    for file in files:
        logging.info("  %s", file)
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
    spec = feature_specs.bounded(
        spec, bert_config.vocab_size, bert_config.type_vocab_size
    )
    feature_specs.check_records(files, spec)
    if not config.do_train:
        # TensorFlow crashes if a record is shorter than its header says, so
        # check the records to evaluate. In training, `fingerprint_records`
        # checks all records.
        limit = config.max_eval_steps * config.eval_batch_size
        count_records(files, limit)
    return tfrecords.Records(files, spec, dynamic_masking)


def _masking_settings(
    config: PretrainingConfig, records: tfrecords.Records
) -> dict[str, Any]:
    """Returns the masking options, {} if the records are masked already.

    Raises an error if a masking flag is set, but the records are masked.
    """
    if records.dynamic_masking is not None:
        return config.masking
    for name in config.masking:
        if name in config.given_flags:
            raise ValueError(
                f"--{name} is only for records that training masks, but "
                "create_pretraining_data.py has masked the records in "
                f"{records.files[0]}. Remove the flag"
            )
    return {}


@dataclasses.dataclass(frozen=True)
class _Evaluation:
    """Evaluates a run on at most --max_eval_steps batches of records."""

    config: PretrainingConfig
    records: tfrecords.Records

    def checksum(self) -> int:
        """Returns a checksum of the records, and of how many are evaluated."""
        config, files = self.config, self.records.files
        found: list[Any] = [config.max_eval_steps * config.eval_batch_size]
        # Training records may be too large to read them for a checksum.
        if config.eval_input_file:
            found += fingerprints.fingerprint(files)
        return zlib.crc32(json.dumps(found).encode())

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        """Returns the metrics of Google's code, and the mean loss as "loss"."""
        dataset = tfrecords.create_dataset(
            self.records,
            self.config.eval_batch_size,
            is_training=False,
            trim=self.config.unpads,
        )
        metrics_of = functools.partial(
            pretraining_metrics, has_next_sentence=self.config.next_sentence
        )
        sums: dict[str, np.ndarray] = {}
        batches = dataset.take(self.config.max_eval_steps)
        # The number of batches is unknown, so the progress bar shows no total.
        for _, metrics in trainer.predict(
            batches, None, "Evaluating", metrics_of
        ):
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
