"""Pretrains BERT: masked language model and next sentence prediction.

Reads the TFRecords of create_pretraining_data.py. Training goes on from the
newest checkpoint of --output_dir, if there is one.
"""

import functools
from typing import NamedTuple

import tensorflow as tf
from absl import flags, logging

import modeling
from data import feature_specs, masking, tf_masking, tfrecords, tokenization
from files import paths
from modeling import losses
from serving.pretraining import export_pretrainer
from serving.signatures import ServingOptions
from training import checks, cli, export, runner
from training import flags as common_flags
from training.options import TrainingOptions

FLAGS = flags.FLAGS


def define_flags():
    """Defines the original's flags, and those this project adds."""
    common_flags.define_model_flags()
    common_flags.define_training_flags(learning_rate=5e-5)
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    cli.define_path(
        "input_file",
        paths.Kind.INPUT_FILES,
        "TFRecord files: comma-separated paths or globs.",
    )
    cli.define_path(
        "output_dir",
        paths.Kind.RUN_FOLDER,
        "Folder for checkpoints and results.",
    )
    flags.DEFINE_integer(
        "max_seq_length",
        128,
        "Length of the records' sequences, in WordPieces.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "max_predictions_per_seq",
        20,
        "Masked positions in a record.",
        lower_bound=1,
    )
    _define_masking_flags()
    cli.define_path(
        "eval_input_file",
        paths.Kind.INPUT_FILES,
        "TFRecord files held out from training, evaluated while training "
        "every --eval_steps and by --do_eval; by default --do_eval takes "
        "--input_file, as the original.",
    )
    flags.DEFINE_integer(
        "eval_steps",
        1000,
        "Steps between two evaluations on --eval_input_file.",
        lower_bound=1,
    )
    flags.DEFINE_bool(
        "next_sentence",
        True,
        "Train on the next sentence too; without it, the paper's ablation "
        "No NSP.",
    )
    flags.DEFINE_bool(
        "left_to_right",
        False,
        "Let no WordPiece see those that follow it: the paper's ablation LTR.",
    )
    flags.DEFINE_bool("do_train", False, "Train on --input_file.")
    flags.DEFINE_bool("do_eval", False, "Evaluate on --input_file.")
    flags.DEFINE_integer(
        "eval_batch_size", 8, "Examples in an eval batch.", lower_bound=1
    )
    flags.DEFINE_integer(
        "num_train_steps", 100000, "Steps of training.", lower_bound=1
    )
    flags.DEFINE_integer(
        "num_warmup_steps", 10000, "Steps of warmup.", lower_bound=0
    )
    flags.DEFINE_integer(
        "max_eval_steps", 100, "Most batches to evaluate.", lower_bound=1
    )


def _define_masking_flags():
    """Defines what is asked for records made with --dynamic_masking only."""
    cli.define_path(
        "vocab_file",
        paths.Kind.INPUT_FILE,
        "The records' vocabulary; needed where they are without masks, and "
        "for an export that takes text.",
    )
    flags.DEFINE_bool(
        "do_lower_case",
        True,
        "Whether the export lower-cases text: as the records were made.",
    )
    flags.DEFINE_float(
        "masked_lm_prob",
        0.15,
        "Share of WordPieces to mask, in records without masks.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_bool(
        "do_whole_word_mask",
        False,
        "Mask all WordPieces of a word, or none of them, in records without "
        "masks.",
    )
    flags.DEFINE_bool(
        "whole_word_draw",
        False,
        "Make one draw a word between [MASK], the same and a random word, in "
        "records without masks.",
    )
    flags.DEFINE_float(
        "mask_token_prob",
        0.8,
        "Share of the WordPieces to predict that become [MASK], in records "
        "without masks.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_float(
        "same_token_prob",
        0.1,
        "Share that stay as they are; the rest become random ones.",
        lower_bound=0.0,
        upper_bound=1.0,
    )


class Records(NamedTuple):
    """Files of one kind, and how to read them."""

    files: list
    spec: dict
    dynamic_masking: tf_masking.DynamicMasking | None


def pretraining_metrics(outputs, features):
    """Returns {name: (sum, weight)} of the original's eval metrics."""
    loss = losses.PretrainingLoss()
    sums, weights = loss.sums(outputs, features), loss.weights(features)
    metrics = {name: (sums[name], weights[name]) for name in loss.names}
    masked = features["masked_lm_weights"]
    right = tf.argmax(outputs["masked_lm_logits"], -1, tf.int32)
    right = tf.cast(right == features["masked_lm_ids"], tf.float32)
    metrics["masked_lm_accuracy"] = (
        tf.reduce_sum(right * masked),
        tf.reduce_sum(masked),
    )
    next_sentence = tf.argmax(outputs["next_sentence_logits"], -1, tf.int32)
    labels = tf.reshape(features["next_sentence_labels"], [-1])
    right = tf.cast(next_sentence == labels, tf.float32)
    metrics["next_sentence_accuracy"] = (
        tf.reduce_sum(right),
        tf.cast(tf.size(right), tf.float32),
    )
    return metrics


def find_records(patterns, flag_name, vocab_size):
    """Returns the Records that a flag names, each file looked into."""
    files = tfrecords.expand_patterns(patterns, flag_name)
    logging.info("*** Input Files ***")
    for file in files:
        logging.info("  %s", file)
    dynamic_masking = None
    if tfrecords.are_masked(files):
        spec = feature_specs.pretraining_features(
            FLAGS.max_seq_length, FLAGS.max_predictions_per_seq
        )
    else:
        spec = feature_specs.unmasked_features(FLAGS.max_seq_length)
        if not FLAGS.vocab_file:
            raise ValueError(
                f"{files[0]} is without masks; give --vocab_file, the "
                "vocabulary that it was made with"
            )
        tokenization.check_vocab(FLAGS.vocab_file, vocab_size)
        masking.check_shares(FLAGS.mask_token_prob, FLAGS.same_token_prob)
        dynamic_masking = tf_masking.DynamicMasking(
            FLAGS.vocab_file,
            FLAGS.max_predictions_per_seq,
            FLAGS.masked_lm_prob,
            FLAGS.do_whole_word_mask,
            FLAGS.whole_word_draw,
            FLAGS.mask_token_prob,
            FLAGS.same_token_prob,
            FLAGS.seed,
        )
    tfrecords.check_records(files, spec, vocab_size)
    return Records(files, spec, dynamic_masking)


def masking_settings(records):
    """Returns what decides the masks of records that are without them.

    Raises:
        ValueError: such flags are given, and the records have masks.
    """
    names = (
        "masked_lm_prob",
        "do_whole_word_mask",
        "whole_word_draw",
        "mask_token_prob",
        "same_token_prob",
    )
    if records.dynamic_masking is not None:
        return {name: FLAGS[name].value for name in names}
    for name in names:
        if FLAGS[name].present:
            raise ValueError(
                f"--{name} is for records without masks; those of "
                f"{records.files[0]} have theirs, from "
                "create_pretraining_data.py"
            )
    return {}


def evaluate(run, records):
    """Returns the original's metrics over at most --max_eval_steps batches."""
    return run.trainer.evaluate(
        tfrecords.create_dataset(
            records.files,
            records.spec,
            FLAGS.eval_batch_size,
            is_training=False,
            dynamic_masking=records.dynamic_masking,
        ),
        pretraining_metrics,
        FLAGS.max_eval_steps,
    )


def train(run, records, eval_records):
    """Trains on `records`, and evaluates on `eval_records` if there are any."""

    def create_dataset(batch_size, skip_records):
        return tfrecords.create_dataset(
            records.files,
            records.spec,
            batch_size,
            is_training=True,
            seed=FLAGS.seed,
            skip_records=skip_records,
            dynamic_masking=records.dynamic_masking,
        )

    evaluation = None
    if eval_records:
        evaluation = run.create_evaluation(
            lambda: evaluate(run, eval_records),
            FLAGS.eval_steps,
            "loss",
            higher_is_better=False,
        )
    run.train(
        create_dataset,
        describe_batch=lambda batch_size, first: tfrecords.describe_records(
            records.files, FLAGS.seed, first, batch_size
        ),
        evaluation=evaluation,
        num_predictions=FLAGS.max_predictions_per_seq,
    )


def main(_):
    """Trains, evaluates and exports as the flags say."""
    options = common_flags.read(TrainingOptions)
    checks.check_command(options)
    config = checks.load_config(options.bert_config_file, FLAGS.max_seq_length)
    if options.export_dir:
        export.check_export_dir(options.export_dir)
        if FLAGS.vocab_file:
            tokenization.check_vocab(FLAGS.vocab_file, config.vocab_size)
    records = find_records(FLAGS.input_file, "input_file", config.vocab_size)
    eval_records = None
    if FLAGS.eval_input_file:
        eval_records = find_records(
            FLAGS.eval_input_file, "eval_input_file", config.vocab_size
        )

    run = runner.Run(
        options,
        functools.partial(
            modeling.BertPretrainer, config, left_to_right=FLAGS.left_to_right
        ),
        losses.PretrainingLoss(FLAGS.next_sentence),
        FLAGS.num_train_steps if FLAGS.do_train else None,
        FLAGS.num_warmup_steps,
        FLAGS.max_seq_length,
        {
            "input_file": runner.fingerprint(records.files),
            "next_sentence": FLAGS.next_sentence,
            "left_to_right": FLAGS.left_to_right,
        }
        | masking_settings(records),
    )
    files = [*records.files, *(eval_records.files if eval_records else ())]
    with tfrecords.named_errors(files):
        if FLAGS.do_train:
            train(run, records, eval_records)
        if FLAGS.do_eval:
            results = evaluate(run, eval_records or records)
            results["global_step"] = run.global_step
            run.write_results("eval_results.txt", results)
    if not run.is_chief:
        # Only the chief writes.
        return
    if options.export_dir:
        export_pretrainer(
            options.export_dir,
            run.model,
            common_flags.read(ServingOptions) if FLAGS.vocab_file else None,
        )
    run.finish()


if __name__ == "__main__":
    cli.run(
        main, define_flags, ("bert_config_file", "input_file", "output_dir")
    )
