"""Fine-tunes BERT on SQuAD v1.1 or v2.0, and predicts answers.

Training goes on from the newest checkpoint of --output_dir, if there is one.
"""

import os
import random
from pathlib import Path

import tensorflow as tf
from absl import flags, logging

import modeling
from data import squad, tfrecords, tokenization
from modeling import losses
from training import cli, export, runner
from training import flags as common_flags

FLAGS = flags.FLAGS


def define_flags():
    """Defines the original's flags, and those this project adds."""
    common_flags.define_model_flags()
    common_flags.define_text_flags()
    common_flags.define_training_flags(learning_rate=5e-5)
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    flags.DEFINE_string(
        "output_dir", None, "Folder for checkpoints, records and results."
    )
    flags.DEFINE_string("train_file", None, "SQuAD JSON to train on.")
    flags.DEFINE_string("predict_file", None, "SQuAD JSON to answer.")
    flags.DEFINE_integer(
        "max_seq_length", 384, "Length of a window, in WordPieces."
    )
    flags.DEFINE_integer(
        "doc_stride",
        128,
        "WordPieces from the start of one window to that of the next.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "max_query_length",
        64,
        "WordPieces of the question that are kept.",
        lower_bound=1,
    )
    flags.DEFINE_bool("do_train", False, "Train on --train_file.")
    flags.DEFINE_bool("do_predict", False, "Answer --predict_file.")
    flags.DEFINE_integer(
        "predict_batch_size", 8, "Windows in a batch.", lower_bound=1
    )
    flags.DEFINE_float(
        "num_train_epochs", 3.0, "Epochs of training.", lower_bound=0.0
    )
    flags.DEFINE_float(
        "warmup_proportion",
        0.1,
        "Share of the steps to warm up in, 0.1 = 10%.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_integer(
        "n_best_size",
        20,
        "Answers to each question in nbest_predictions.json.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "max_answer_length",
        30,
        "Longest answer, in WordPieces.",
        lower_bound=1,
    )
    flags.DEFINE_bool(
        "verbose_logging", False, "Log answers that cannot be aligned."
    )
    flags.DEFINE_bool(
        "version_2_with_negative",
        False,
        "SQuAD v2.0: some questions have no answer.",
    )
    flags.DEFINE_float(
        "null_score_diff_threshold",
        0.0,
        "No answer is given where the null score is higher by more than this.",
    )


def check_flags():
    """Refuses contradictory flags before any long work.

    Raises:
        ValueError: a flag is missing, or does not fit another.
    """
    runner.check_tasks(FLAGS, ("do_train", "do_predict", "export_dir"))
    for task, file in (
        ("do_train", "train_file"),
        ("do_predict", "predict_file"),
    ):
        if getattr(FLAGS, task) and not getattr(FLAGS, file):
            raise ValueError(f"--{task} needs --{file}")
    if FLAGS.max_seq_length <= FLAGS.max_query_length + 3:
        raise ValueError(
            f"--max_seq_length={FLAGS.max_seq_length} must be more than "
            f"--max_query_length={FLAGS.max_query_length} + 3, to leave room "
            "for the passage"
        )
    if FLAGS.export_dir:
        export.check_export_dir(FLAGS.export_dir)


def write_records(examples, tokenizer, name, is_training, keep=None):
    """Writes the windows of examples to a TFRecord file of the output.

    Args:
        examples: SquadExamples.
        tokenizer: FullTokenizer.
        name: the file's name.
        is_training: whether to write where the answers are.
        keep: called with each window's InputFeatures, where not None.

    Returns:
        its path, and the number of windows.
    """
    os.makedirs(FLAGS.output_dir, exist_ok=True)
    path = os.path.join(FLAGS.output_dir, name)
    with tfrecords.RecordWriter([path]) as writer:
        for feature in squad.create_features(
            examples,
            tokenizer,
            FLAGS.max_seq_length,
            FLAGS.doc_stride,
            FLAGS.max_query_length,
            is_training,
        ):
            values = {
                "unique_ids": [feature.unique_id],
                "input_ids": feature.input_ids,
                "input_mask": feature.input_mask,
                "segment_ids": feature.segment_ids,
            }
            if is_training:
                values |= {
                    "start_positions": [feature.start_position],
                    "end_positions": [feature.end_position],
                    "is_impossible": [int(feature.is_impossible)],
                }
            writer.write(tfrecords.encode_example(values))
            if keep is not None:
                keep(feature)
    logging.info("Wrote %d windows to %s", writer.num_records, path)
    return path, writer.num_records


def create_dataset(path, batch_size, is_training, skip_records=0):
    """Returns the batches of a file that `write_records` wrote."""
    return tfrecords.create_dataset(
        [path],
        tfrecords.squad_features(FLAGS.max_seq_length, is_training),
        batch_size,
        is_training,
        seed=FLAGS.seed,
        skip_records=skip_records,
    )


def predict(run, tokenizer):
    """Answers --predict_file and writes the original's three files."""
    examples = squad.read_squad_examples(
        FLAGS.predict_file, False, FLAGS.version_2_with_negative
    )
    features = []
    path, num_windows = write_records(
        examples, tokenizer, "eval.tf_record", False, features.append
    )
    dataset = create_dataset(path, FLAGS.predict_batch_size, is_training=False)
    num_batches = -(-num_windows // FLAGS.predict_batch_size)
    results = []
    for batch, outputs in run.trainer.predict(dataset, num_batches):
        for unique_id, start_logits, end_logits in zip(
            batch["unique_ids"],
            outputs["start_logits"],
            outputs["end_logits"],
            strict=True,
        ):
            results.append(
                squad.RawResult(int(unique_id), start_logits, end_logits)
            )
    output = Path(FLAGS.output_dir)
    squad.write_predictions(
        examples,
        features,
        results,
        FLAGS.n_best_size,
        FLAGS.max_answer_length,
        FLAGS.do_lower_case,
        str(output / "predictions.json"),
        str(output / "nbest_predictions.json"),
        str(output / "null_odds.json"),
        FLAGS.version_2_with_negative,
        FLAGS.null_score_diff_threshold,
        FLAGS.verbose_logging,
    )
    logging.info("Wrote the answers to %s", output / "predictions.json")


def export_span_labeler(export_dir, model):
    """Exports the logits of where an answer starts and ends."""

    def serve(input_ids, input_mask, segment_ids):
        outputs = model(
            {
                "input_ids": input_ids,
                "input_mask": input_mask,
                "segment_ids": segment_ids,
            },
            training=False,
        )
        return {
            name: tf.cast(logits, tf.float32)
            for name, logits in outputs.items()
        }

    export.export_saved_model(
        export_dir,
        model,
        {"serve": (serve, export.ids_signature())},
        {
            "vocab.txt": Path(FLAGS.vocab_file),
            "bert_config.json": model.config.to_json_string(),
        },
    )


def main(_):
    """Trains, predicts and exports as the flags say."""
    check_flags()
    tokenization.validate_case_matches_checkpoint(
        FLAGS.do_lower_case, FLAGS.init_checkpoint
    )
    config = runner.load_config(FLAGS, FLAGS.max_seq_length)
    tokenization.check_vocab(FLAGS.vocab_file, config.vocab_size)
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, FLAGS.do_lower_case
    )
    if FLAGS.do_predict:
        squad.read_squad_json(FLAGS.predict_file)

    num_train_steps, num_warmup_steps, settings = None, 0, {}
    if FLAGS.do_train:
        examples = squad.read_squad_examples(
            FLAGS.train_file, True, FLAGS.version_2_with_negative
        )
        # Shuffled once here, as in the original, so that a buffer of records
        # need not span the file.
        random.Random(12345).shuffle(examples)
        num_train_steps, num_warmup_steps = runner.num_steps(
            FLAGS, len(examples)
        )
        logging.info("%d questions to train on", len(examples))
        train_path, _ = write_records(
            examples, tokenizer, "train.tf_record", True
        )
        del examples
        settings = {"train_records": runner.fingerprint([train_path])}
    run = runner.Run(
        FLAGS,
        lambda: modeling.BertSpanLabeler(
            config, use_one_hot_embeddings=FLAGS.use_tpu, seed=FLAGS.seed
        ),
        losses.SpanLoss(),
        num_train_steps,
        num_warmup_steps,
        settings,
    )
    if FLAGS.do_train:
        run.train(
            create_dataset(
                train_path,
                FLAGS.train_batch_size,
                is_training=True,
                skip_records=run.global_step * FLAGS.train_batch_size,
            )
        )
    if FLAGS.do_predict:
        predict(run, tokenizer)
    if FLAGS.export_dir:
        export_span_labeler(FLAGS.export_dir, run.model)


if __name__ == "__main__":
    cli.run(
        main, define_flags, ("bert_config_file", "vocab_file", "output_dir")
    )
