"""Runs pretraining on records, masked in advance or during training."""

import dataclasses
import functools
import json
import time
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

import modeling
from data.io import feature_specs, tfrecords
from data.io.records import count_records
from data.io.text_files import expand_patterns
from data.pretraining import record_files
from data.pretraining.dynamic_masking import DynamicMasking
from data.pretraining.pretraining_options import MaskingOptions
from model_folders import identity
from model_folders.model_entries import Fingerprint
from modeling.base_loss import add_terms
from training import checks, exporting, flow, pretraining_end
from training.distillation import load_teacher
from training.flow import Scores
from training.loop import devices
from training.loop.trainer import Trainer
from training.pretraining_config import PretrainingConfig
from training.run import fingerprints, resuming
from training.run.run_folder import RunFolder
from training.start import StartingPoint
from training.training_config import NumSteps


def run(start: StartingPoint[PretrainingConfig]) -> None:
    """Trains, evaluates and exports the model, depending on the flags.

    Args:
        start: what the command starts from.

    Raises:
        ValueError: a record, or the earlier run in --output_dir, does not match
            the flags.
        OSError: a file is missing or cannot be written.
    """
    began = time.time()
    config = start.config
    devices.connect_devices(config.devices)
    checks.check_files(start)
    check_network(start)
    teacher = load_teacher(start, modeling.BertPretrainer)
    run_folder = RunFolder.open(start)
    records, eval_records = find_all_records(start)
    plan = create_plan(start, records, eval_records)
    trainer = flow.begin_run(start, run_folder, plan, teacher)
    counts = pretraining_end.MaskedCounts()
    evaluate = create_evaluation(config, eval_records, counts)
    results: Scores = {}
    with tfrecords.naming_wrong_records([records, eval_records]):
        if plan.num_steps:
            train_pretrainer(config, trainer, records, evaluate)
        if config.training.do_eval:
            results = flow.evaluate_at_the_end(trainer, evaluate)
    if config.export.export_dir or config.training.export_weights:
        # Export the best step's weights if this run saved them. Later commands
        # load the same weights from --output_dir.
        trainer.restore_best()
        logging.info("Exporting %s", trainer.describe_step())
    if config.is_chief:
        # Only the chief writes files.
        finish_run(start, trainer, results, began, counts.guess)


def create_plan(
    start: StartingPoint[PretrainingConfig],
    records: tfrecords.Records,
    eval_records: tfrecords.Records,
) -> flow.Plan:
    """Identifies the records, and plans what to do with them.

    Args:
        start: what the command starts from.
        records: the records to train on.
        eval_records: the records to evaluate on.

    Raises:
        ValueError: the run in --output_dir began with other settings or
            records.
    """
    config = start.config
    dev_set: list[Fingerprint] = []
    if config.pretraining.eval_input_file:
        dev_set = record_files.identify_files(eval_records.files)
    settings_to_record = start.recorded_settings
    if config.training.do_train:
        settings = list_settings(start, records, dev_set)
        check_same_records(start, settings)
        resuming.check_resumed(config, start.preset, settings)
        settings_to_record = resuming.settings_to_record(
            config, start.preset, settings
        )
    return flow.Plan(
        create_model=functools.partial(
            modeling.BertPretrainer, left_to_right=config.training.left_to_right
        ),
        loss=modeling.PretrainingLoss(config.pretraining.next_sentence),
        num_steps=find_num_steps(config),
        settings=settings_to_record,
        dev_set_checksum=dev_set_checksum(config, dev_set),
    )


def check_network(start: StartingPoint[PretrainingConfig]) -> None:
    """Checks that the folder of the weights is of the network of the flags.

    Raises:
        ValueError: the folder states another network, vocabulary or casing.
    """
    if start.preset:
        identity.check_identity(
            start.preset,
            start.bert_config,
            start.tokenizer,
            start.config.network,
            start.config.training.do_train,
        )


def find_num_steps(config: PretrainingConfig) -> NumSteps | None:
    """Returns the numbers of training and warmup steps, or None."""
    if not config.training.do_train:
        return None
    flags = config.pretraining
    return NumSteps(flags.num_train_steps, flags.num_warmup_steps)


def train_pretrainer(
    config: PretrainingConfig,
    trainer: Trainer,
    records: tfrecords.Records,
    evaluate: flow.Evaluate,
) -> None:
    """Trains on records, and evaluates meanwhile if the flags say so."""
    flow.train_and_evaluate(
        trainer,
        records,
        config.pretraining.num_train_steps,
        evaluate,
        interval=config.pretraining.eval_steps,
        metric="loss",
    )


def finish_run(
    start: StartingPoint[PretrainingConfig],
    trainer: Trainer,
    results: Scores,
    began: float,
    guess: float,
) -> None:
    """Writes the export, the weights and the card, and logs what to know.

    Args:
        start: what the command starts from.
        trainer: the Trainer, with the weights to export.
        results: scores of the evaluation, {} without an evaluation.
        began: time at which this command began, as time.time().
        guess: accuracy of always guessing the most frequent WordPiece.
    """
    config = start.config
    if export_dir := config.export.export_dir:
        exporting.export_pretrainer(start, trainer, export_dir)
    flow.store_weights(trainer)
    trainer.run_folder.write_card()
    if results and config.training.do_train:
        pretraining_end.warn_of_no_progress(results, guess)
    flow.log_end(
        trainer,
        score_lines=pretraining_end.list_score_lines(results),
        commands=pretraining_end.list_commands(start),
        seconds=time.time() - began,
    )


def list_settings(
    start: StartingPoint[PretrainingConfig],
    records: tfrecords.Records,
    dev_set: list[Fingerprint],
) -> dict[str, Any]:
    """Returns the settings of the training, {name: value}.

    Args:
        start: what the command starts from.
        records: the records to train on.
        dev_set: identity of the records of --eval_input_file.
    """
    settings: dict[str, Any] = {**fingerprints.settings_of_start(start)}
    settings["input_file"] = record_files.identify_files(records.files)
    if start.config.keeps_best:
        settings["eval_input_file"] = dev_set
    return settings


def check_same_records(
    start: StartingPoint[PretrainingConfig], settings: Mapping[str, Any]
) -> None:
    """Checks that a run is resumed on the records that it began with.

    `settings` is the result of `list_settings`.

    Raises:
        ValueError: the records differ. The message names the flag and a file.
    """
    if not start.is_own_run:
        return
    stated: Mapping[str, object] = start.recorded_settings
    folder = start.config.training.output_dir
    for name in ("input_file", "eval_input_file"):
        recorded = stated.get(name)
        records = settings.get(name, recorded)
        if not isinstance(recorded, list) or recorded == records:
            continue
        files = [str(entry[0]) for entry in records if entry not in recorded]
        raise ValueError(
            f"--{name}: the run in {folder} began with other records than "
            f"{', '.join(files) or 'these files'}. Set another --output_dir. "
            "To start from this run's weights, also set "
            f"--init_checkpoint={folder}"
        )


def dev_set_checksum(
    config: PretrainingConfig, dev_set: Sequence[Fingerprint]
) -> int:
    """Returns a checksum of the records that evaluations read.

    Records of --input_file count only by the number of examples, because they
    may be too large to read them for a checksum.

    Args:
        config: the flags.
        dev_set: identity of the records of --eval_input_file, [] without it.
    """
    scored = [
        config.pretraining.max_eval_steps * config.pretraining.eval_batch_size,
        *dev_set,
    ]
    return zlib.crc32(json.dumps(scored).encode())


def find_all_records(
    start: StartingPoint[PretrainingConfig],
) -> tuple[tfrecords.Records, tfrecords.Records]:
    """Finds and checks the records to train on, and those to evaluate on."""
    flags = start.config.pretraining
    records = find_records(start, "input_file", flags.input_file)
    if not flags.eval_input_file:
        return records, records
    return records, find_records(
        start, "eval_input_file", flags.eval_input_file
    )


def find_records(
    start: StartingPoint[PretrainingConfig], name: str, pattern: str
) -> tfrecords.Records:
    """Finds and checks the records of --input_file or --eval_input_file.

    Args:
        start: what the command starts from.
        name: name of the flag.
        pattern: value of the flag.

    Raises:
        ValueError: a record does not fit the flags or the configuration.
        OSError: a file is missing.
    """
    config = start.config
    files = expand_patterns(pattern, name)
    logging.info("--%s: %d files, the first is %s", name, len(files), files[0])
    if tfrecords.are_masked(files):
        if name == "input_file":
            _check_masking_flags(start, files[0])
        dynamic_masking = None
        spec = feature_specs.pretraining_features(
            config.pretraining.max_seq_length,
            config.pretraining.max_predictions_per_seq,
        )
    else:
        dynamic_masking = _create_masking(start, files[0])
        spec = feature_specs.unmasked_features(
            config.pretraining.max_seq_length
        )
    spec = feature_specs.bounded(
        spec, start.bert_config.vocab_size, start.bert_config.type_vocab_size
    )
    tfrecords.check_records(files, spec)
    if not config.training.do_train:
        # TensorFlow crashes if a record is shorter than its header says. In
        # training, `record_files.identify_files` checks all records.
        flags = config.pretraining
        count_records(files, flags.max_eval_steps * flags.eval_batch_size)
    return tfrecords.Records(files, spec, dynamic_masking)


def _check_masking_flags(
    start: StartingPoint[PretrainingConfig], file: str
) -> None:
    """Raises a ValueError if flags of masking are set for masked records."""
    masking = {field.name for field in dataclasses.fields(MaskingOptions)}
    masking &= start.given
    if masking:
        raise ValueError(
            f"--{min(masking)} is only for records that training masks, but "
            f"the records in {file} contain masks. Remove the flag"
        )


def _create_masking(
    start: StartingPoint[PretrainingConfig], file: str
) -> DynamicMasking:
    if not start.tokenizer:
        raise ValueError(
            f"The records in {file} are not masked yet, so training masks them "
            "and needs the vocabulary. Set --vocab_file to the vocabulary that "
            "the file was created with"
        )
    config = start.config
    config.masking.check_shares()
    return DynamicMasking(
        start.tokenizer,
        config.pretraining.max_predictions_per_seq,
        config.masking,
        config.training.seed,
    )


def create_evaluation(
    config: PretrainingConfig,
    records: tfrecords.Records,
    counts: pretraining_end.MaskedCounts,
) -> flow.Evaluate:
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
        dataset = tfrecords.create_dataset(
            records,
            config.pretraining.eval_batch_size,
            is_training=False,
            trim=config.unpads,
        )
        sums: dict[str, np.ndarray] = {}
        batches = dataset.take(config.pretraining.max_eval_steps)
        # The number of batches is unknown, so the progress bar shows no total.
        for features, metrics in trainer.predict(
            batches, None, "Evaluating", metrics_of
        ):
            counts.add(features)
            for name, pair in metrics.items():
                sums[name] = sums.get(name, 0.0) + np.array(pair, np.float64)
        means = {
            name: float(total / weight) if weight else 0.0
            for name, (total, weight) in sums.items()
        }
        return {**means, "global_step": trainer.global_step}

    return flow.evaluate_once_per_step(evaluate)


def pretraining_metrics(
    outputs: dict[str, tf.Tensor],
    features: dict[str, tf.Tensor],
    has_next_sentence: bool = True,
) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
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
    sums = loss.sums(outputs, features)
    weights = loss.weights(features)
    metrics = {name: (sums[name], weights[name]) for name in loss.terms}
    total = add_terms(loss.means(sums, weights))
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
        count = tf.cast(tf.size(right), tf.float32)
        metrics["next_sentence_accuracy"] = tf.reduce_sum(right), count
    return metrics
