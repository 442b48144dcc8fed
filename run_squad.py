"""Fine-tunes BERT on SQuAD v1.1 or v2.0, and predicts answers.

Training goes on from the newest checkpoint of --output_dir, if there is one.
"""

import functools
import json
import os
import random

from absl import flags, logging

import modeling
from data import (
    squad,
    squad_decoding,
    squad_records,
    squad_report,
    squad_scoring,
    tfrecords,
    tokenization,
)
from files import paths
from modeling import losses
from serving.squad import export_span_labeler
from training import (
    checkpointing,
    cli,
    export,
    fine_tuning,
    progress,
    runner,
)
from training import flags as common_flags

FLAGS = flags.FLAGS


def define_flags():
    """Defines the original's flags, and those this project adds."""
    common_flags.define_model_flags()
    common_flags.define_text_flags()
    common_flags.define_training_flags(learning_rate=5e-5)
    common_flags.define_fine_tuning_flags(trim_padding=False)
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    cli.define_path(
        "output_dir",
        paths.Kind.RUN_FOLDER,
        "Folder for checkpoints, records and results.",
    )
    cli.define_path(
        "train_file", paths.Kind.INPUT_FILE, "SQuAD JSON to train on."
    )
    cli.define_path(
        "predict_file", paths.Kind.INPUT_FILE, "SQuAD JSON to answer."
    )
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
    flags.DEFINE_integer(
        "num_processes",
        1,
        "Processes that make the windows of --train_file; the records do not "
        "depend on it.",
        lower_bound=1,
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
    flags.DEFINE_bool(
        "use_char_offsets",
        False,
        "Find answers by their characters, and cut predictions out of the "
        "passage where their tokens stand in it: right for scripts without "
        "spaces, such as Chinese.",
    )
    flags.DEFINE_bool(
        "report",
        False,
        "Write report.html: the questions answered wrong and right, with the "
        "passages.",
    )


def needs_questions():
    """Returns whether --predict_file is read."""
    return FLAGS.do_predict or fine_tuning.evaluates_while_training(FLAGS)


def check_flags():
    """Refuses contradictory flags before any long work.

    Raises:
        ValueError: a flag is missing, or does not fit another.
    """
    runner.check_tasks(
        FLAGS, ("do_train", "do_predict", "export_dir", "export_weights")
    )
    if FLAGS.report and not FLAGS.do_predict:
        raise ValueError("--report needs --do_predict")
    if FLAGS.do_train and not FLAGS.train_file:
        raise ValueError("--do_train needs --train_file")
    if needs_questions() and not FLAGS.predict_file:
        raise ValueError("--predict_file is needed, to evaluate and predict")
    if FLAGS.max_seq_length <= FLAGS.max_query_length + 3:
        raise ValueError(
            f"--max_seq_length={FLAGS.max_seq_length} must be more than "
            f"--max_query_length={FLAGS.max_query_length} + 3, to leave room "
            "for the passage"
        )
    if FLAGS.export_dir:
        export.check_export_dir(FLAGS.export_dir)


def write_records(records, name):
    """Writes serialized windows to a TFRecord file of the output.

    Returns:
        its path, and the number of windows.
    """
    path = os.path.join(runner.records_folder(FLAGS), name)
    with tfrecords.RecordWriter([path]) as writer:
        for record in progress.track(records, None, "window", "Writing"):
            writer.write(record)
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
        trim=runner.trims_padding(FLAGS),
    )


class Questions:
    """The questions of --predict_file, ready for the network.

    Args:
        tokenizer: FullTokenizer.
    """

    def __init__(self, tokenizer):
        self.examples = squad.read_squad_examples(
            FLAGS.predict_file, False, FLAGS.version_2_with_negative
        )
        self.features = list(
            squad.create_features(
                self.examples,
                tokenizer,
                FLAGS.max_seq_length,
                FLAGS.doc_stride,
                FLAGS.max_query_length,
                False,
                FLAGS.use_char_offsets,
            )
        )
        in_turn = self.features
        if runner.trims_padding(FLAGS):
            # Windows of one length share a batch, the longest first, so that
            # memory that does not suffice is noticed at once. Their ids tell
            # which question each belongs to.
            in_turn = sorted(in_turn, key=lambda feature: -len(feature.tokens))
        self._path, self._num_windows = write_records(
            (squad_records.encode_feature(each, False) for each in in_turn),
            "eval.tf_record",
        )

    def answer(self, run):
        """Returns the answers of a Run's model, as decode_predictions does."""
        dataset = create_dataset(
            self._path, FLAGS.predict_batch_size, is_training=False
        )
        num_batches = -(-self._num_windows // FLAGS.predict_batch_size)
        results = []
        for batch, outputs in run.trainer.predict(dataset, num_batches):
            results += [
                squad.RawResult(int(unique_id), start_logits, end_logits)
                for unique_id, start_logits, end_logits in zip(
                    batch["unique_ids"],
                    outputs["start_logits"],
                    outputs["end_logits"],
                    strict=True,
                )
            ]
        return squad_decoding.decode_predictions(
            self.examples,
            self.features,
            results,
            FLAGS.n_best_size,
            FLAGS.max_answer_length,
            FLAGS.do_lower_case,
            FLAGS.version_2_with_negative,
            FLAGS.null_score_diff_threshold,
            FLAGS.verbose_logging,
        )


def score(predictions, nbest, null_odds):
    """Returns the official scores; {} where --predict_file has no answers."""
    try:
        return squad_scoring.score_outputs(
            FLAGS.predict_file, predictions, nbest, null_odds
        )
    except ValueError as error:
        logging.warning("Not scored: %s", error)
        return {}


def predict(run, questions):
    """Answers --predict_file: the original's files, and the scores."""
    predictions, nbest, null_odds = questions.answer(run)
    outputs = {
        "predictions.json": predictions,
        "nbest_predictions.json": nbest,
    }
    if FLAGS.version_2_with_negative:
        outputs["null_odds.json"] = null_odds
    for name, content in outputs.items():
        checkpointing.write_text(
            os.path.join(FLAGS.output_dir, name),
            json.dumps(content, indent=4) + "\n",
        )
    logging.info("Wrote %s to %s", ", ".join(outputs), FLAGS.output_dir)
    scores = score(predictions, nbest, null_odds)
    if FLAGS.report and scores:
        path = os.path.join(FLAGS.output_dir, "report.html")
        squad_report.write_report(
            path,
            FLAGS.predict_file,
            predictions,
            FLAGS.version_2_with_negative,
        )
        logging.info("Wrote the report %s", path)
    if scores:
        run.write_results(
            "eval_results.txt", scores | {"global_step": run.global_step}
        )


def train(run, train_path, num_windows, questions):
    """Trains on the train records, from where the run stands."""
    fine_tuning.train(
        run,
        lambda batch_size, skip_records: create_dataset(
            train_path, batch_size, True, skip_records
        ),
        num_windows,
        lambda: score(*questions.answer(run)),
        "f1",
        lambda batch_size, first: tfrecords.describe_records(
            [train_path], FLAGS.seed, first, batch_size
        ),
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
    # Both files are read before the long work begins.
    examples = None
    if FLAGS.do_train:
        examples = squad.read_squad_examples(
            FLAGS.train_file, True, FLAGS.version_2_with_negative
        )
    questions = Questions(tokenizer) if needs_questions() else None

    num_train_steps, num_warmup_steps, settings = None, 0, {}
    if FLAGS.do_train:
        # Shuffled once here, as in the original, so that a buffer of records
        # need not span the file.
        random.Random(12345).shuffle(examples)
        num_train_steps, num_warmup_steps = runner.num_steps(
            FLAGS, len(examples)
        )
        logging.info("%d questions to train on", len(examples))
        train_path, num_windows = write_records(
            squad_records.create_records(
                examples,
                tokenizer,
                FLAGS.max_seq_length,
                FLAGS.doc_stride,
                FLAGS.max_query_length,
                True,
                FLAGS.use_char_offsets,
                num_processes=FLAGS.num_processes,
            ),
            "train.tf_record",
        )
        del examples
        settings = {"train_records": runner.fingerprint([train_path])}
    run = runner.Run(
        FLAGS,
        functools.partial(modeling.BertSpanLabeler, config),
        losses.SpanLoss(),
        num_train_steps,
        num_warmup_steps,
        FLAGS.max_seq_length,
        settings,
    )
    if FLAGS.do_train:
        train(run, train_path, num_windows, questions)
    if not run.is_chief:
        # Only the chief writes.
        return
    if FLAGS.do_predict:
        predict(run, questions)
    if FLAGS.export_dir:
        export_span_labeler(
            FLAGS.export_dir,
            run.model,
            FLAGS.vocab_file,
            FLAGS.do_lower_case,
            FLAGS.max_seq_length,
            FLAGS.doc_stride,
            FLAGS.max_query_length,
            FLAGS.n_best_size,
            FLAGS.max_answer_length,
            FLAGS.version_2_with_negative,
            FLAGS.null_score_diff_threshold,
            FLAGS.use_char_offsets,
            FLAGS.predict_batch_size,
        )
    run.finish()


if __name__ == "__main__":
    cli.run(
        main, define_flags, ("bert_config_file", "vocab_file", "output_dir")
    )
