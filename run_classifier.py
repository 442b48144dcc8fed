"""Fine-tunes BERT to classify a sentence or a pair, evaluates and predicts.

Training goes on from the newest checkpoint of --output_dir, if there is one.
"""

import functools
import os
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from absl import flags, logging

import modeling
from data import glue, tfrecords, tokenization
from modeling import losses
from training import checkpointing, cli, export, runner
from training import flags as common_flags

FLAGS = flags.FLAGS

PROCESSORS = {
    "cola": glue.ColaProcessor,
    "mnli": glue.MnliProcessor,
    "mrpc": glue.MrpcProcessor,
    "xnli": glue.XnliProcessor,
}


def define_flags():
    """Defines the original's flags, and those this project adds."""
    common_flags.define_model_flags()
    common_flags.define_text_flags()
    common_flags.define_training_flags(learning_rate=5e-5)
    common_flags.define_fine_tuning_flags()
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    flags.DEFINE_string("data_dir", None, "Folder of the task's files.")
    flags.DEFINE_string(
        "task_name", None, f"One of {', '.join(sorted(PROCESSORS))}."
    )
    flags.DEFINE_string(
        "output_dir", None, "Folder for checkpoints, records and results."
    )
    flags.DEFINE_integer(
        "max_seq_length",
        128,
        "Longest input in WordPieces; longer ones are cut, shorter padded.",
        lower_bound=3,
    )
    flags.DEFINE_bool("do_train", False, "Train on the train set.")
    flags.DEFINE_bool("do_eval", False, "Evaluate on the dev set.")
    flags.DEFINE_bool("do_predict", False, "Predict the test set.")
    flags.DEFINE_integer(
        "eval_batch_size", 8, "Examples in an eval batch.", lower_bound=1
    )
    flags.DEFINE_integer(
        "predict_batch_size", 8, "Examples in a test batch.", lower_bound=1
    )


def create_processor():
    """Returns the processor of --task_name.

    Raises:
        ValueError: there is no such task.
    """
    name = FLAGS.task_name.lower()
    if name not in PROCESSORS:
        raise ValueError(
            f"--task_name={FLAGS.task_name} is not known; give one of "
            f"{', '.join(sorted(PROCESSORS))}"
        )
    return PROCESSORS[name]()


def write_records(examples, label_list, tokenizer, name):
    """Writes the features of examples to a TFRecord file of the output.

    Returns:
        its path.
    """
    os.makedirs(FLAGS.output_dir, exist_ok=True)
    path = os.path.join(FLAGS.output_dir, name)
    with tfrecords.RecordWriter([path]) as writer:
        for feature in glue.convert_examples_to_features(
            examples, label_list, FLAGS.max_seq_length, tokenizer
        ):
            writer.write(
                tfrecords.encode_example(
                    {
                        "input_ids": feature.input_ids,
                        "input_mask": feature.input_mask,
                        "segment_ids": feature.segment_ids,
                        "label_ids": [feature.label_id],
                        "is_real_example": [int(feature.is_real_example)],
                    }
                )
            )
    return path


def create_dataset(path, batch_size, is_training, skip_records=0):
    """Returns the batches of a file that `write_records` wrote."""
    return tfrecords.create_dataset(
        [path],
        tfrecords.classifier_features(FLAGS.max_seq_length),
        batch_size,
        is_training,
        seed=FLAGS.seed,
        skip_records=skip_records,
        trim=FLAGS.trim_padding and not FLAGS.use_tpu,
    )


def evaluates_while_training():
    """Returns whether the flags ask for an evaluation after each epoch."""
    return FLAGS.do_train and (
        FLAGS.evaluate_each_epoch or FLAGS.early_stopping_patience > 0
    )


def train(run, paths, examples):
    """Trains on the train records, from where the run stands."""
    evaluation = None
    if evaluates_while_training():
        evaluation = run.create_evaluation(
            lambda: evaluate(run, paths["eval"], len(examples["eval"])),
            max(len(examples["train"]) // run.batch_size, 1),
            "eval_accuracy",
            patience=FLAGS.early_stopping_patience,
        )
    run.train(
        lambda batch_size, skip_records: create_dataset(
            paths["train"], batch_size, True, skip_records
        ),
        evaluation=evaluation,
    )
    if FLAGS.early_stopping_patience:
        run.restore_best()


def evaluate(run, path, num_examples):
    """Returns the original's metrics over a file of records."""
    loss = run.trainer.loss
    dataset = create_dataset(path, FLAGS.eval_batch_size, is_training=False)
    num_batches = -(-num_examples // FLAGS.eval_batch_size)
    right, example_losses, batch_losses = [], [], []
    for features, logits in run.trainer.predict(
        dataset, num_batches, "Evaluating"
    ):
        batch_loss = np.asarray(loss.example_loss(logits, features))
        right.append(np.argmax(logits, -1) == features["label_ids"])
        example_losses.append(batch_loss)
        batch_losses.append(np.mean(batch_loss))
    return {
        "eval_accuracy": float(np.mean(np.concatenate(right))),
        "eval_loss": float(np.mean(np.concatenate(example_losses))),
        "global_step": run.global_step,
        "loss": float(np.mean(batch_losses)),
    }


def predict(run, path, num_examples):
    """Writes test_results.tsv: a line an example, a column a label."""
    dataset = create_dataset(path, FLAGS.predict_batch_size, is_training=False)
    num_batches = -(-num_examples // FLAGS.predict_batch_size)
    lines = []
    for _, logits in run.trainer.predict(dataset, num_batches):
        for row in np.asarray(keras.ops.softmax(logits)):
            lines.append("\t".join(str(value) for value in row) + "\n")
    results = os.path.join(FLAGS.output_dir, "test_results.tsv")
    checkpointing.write_text(results, "".join(lines))
    logging.info("Wrote %d predictions to %s", len(lines), results)


def export_classifier(export_dir, model, label_list):
    """Exports the probabilities of each label, in the order of labels.txt."""

    def serve(input_ids, input_mask, segment_ids):
        logits = model(
            {
                "input_ids": input_ids,
                "input_mask": input_mask,
                "segment_ids": segment_ids,
            },
            training=False,
        )
        return {"probabilities": tf.nn.softmax(tf.cast(logits, tf.float32))}

    export.export_saved_model(
        export_dir,
        model,
        {"serve": (serve, export.ids_signature())},
        {
            "vocab.txt": Path(FLAGS.vocab_file),
            "labels.txt": "".join(f"{label}\n" for label in label_list),
            "bert_config.json": model.config.to_json_string(),
        },
    )


def main(_):
    """Trains, evaluates, predicts and exports as the flags say."""
    runner.check_tasks(
        FLAGS, ("do_train", "do_eval", "do_predict", "export_dir")
    )
    tokenization.validate_case_matches_checkpoint(
        FLAGS.do_lower_case, FLAGS.init_checkpoint
    )
    config = runner.load_config(FLAGS, FLAGS.max_seq_length)
    tokenization.check_vocab(FLAGS.vocab_file, config.vocab_size)
    if FLAGS.export_dir:
        export.check_export_dir(FLAGS.export_dir)
    processor = create_processor()
    label_list = processor.get_labels()
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, FLAGS.do_lower_case
    )

    examples, paths = {}, {}
    for wanted, name, read in (
        (FLAGS.do_train, "train", processor.get_train_examples),
        (
            FLAGS.do_eval or evaluates_while_training(),
            "eval",
            processor.get_dev_examples,
        ),
        (FLAGS.do_predict, "predict", processor.get_test_examples),
    ):
        if wanted:
            # Every set is read before the long work begins.
            examples[name] = read(FLAGS.data_dir)
            logging.info("%d examples to %s on", len(examples[name]), name)
    for name, found in examples.items():
        paths[name] = write_records(
            found, label_list, tokenizer, f"{name}.tf_record"
        )

    num_train_steps, num_warmup_steps, settings = None, 0, {}
    if FLAGS.do_train:
        num_train_steps, num_warmup_steps = runner.num_steps(
            FLAGS, len(examples["train"])
        )
        settings = {
            "task_name": FLAGS.task_name.lower(),
            "train_records": runner.fingerprint([paths["train"]]),
        }
    run = runner.Run(
        FLAGS,
        functools.partial(modeling.BertClassifier, config, len(label_list)),
        losses.ClassifierLoss(),
        num_train_steps,
        num_warmup_steps,
        FLAGS.max_seq_length,
        settings,
    )
    if FLAGS.do_train:
        train(run, paths, examples)
    if FLAGS.do_eval:
        results = evaluate(run, paths["eval"], len(examples["eval"]))
        run.write_results("eval_results.txt", results)
    if FLAGS.do_predict:
        predict(run, paths["predict"], len(examples["predict"]))
    if FLAGS.export_dir:
        export_classifier(FLAGS.export_dir, run.model, label_list)
    run.finish()


if __name__ == "__main__":
    cli.run(
        main,
        define_flags,
        (
            "data_dir",
            "bert_config_file",
            "task_name",
            "vocab_file",
            "output_dir",
        ),
    )
