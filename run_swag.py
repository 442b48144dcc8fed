"""Fine-tunes BERT to choose among continuations (SWAG), and predicts.

Training goes on from the newest checkpoint of --output_dir, if there is one.
"""

import functools
import os
from pathlib import Path

import tensorflow as tf
from absl import flags, logging

import modeling
from data import glue, label_decoding, swag, tfrecords, tokenization
from modeling import losses
from training import cli, export, fine_tuning, metrics, runner
from training import flags as common_flags

FLAGS = flags.FLAGS

LABELS = [str(choice) for choice in range(swag.NUM_CHOICES)]


def define_flags():
    """Defines the flags that the other tasks have too."""
    common_flags.define_model_flags()
    common_flags.define_text_flags()
    common_flags.define_task_flags()
    # The paper's, with batches of 16 (section 4.4).
    common_flags.define_training_flags(learning_rate=2e-5)
    common_flags.define_fine_tuning_flags()
    common_flags.define_device_flags()
    common_flags.define_export_flags()


class Task:
    """SWAG's sets as records, and what is made of the model's outputs.

    Args:
        tokenizer: FullTokenizer.
    """

    def __init__(self, tokenizer):
        self.decoder = label_decoding.LabelDecoder("classification", LABELS)
        processor = swag.SwagProcessor()
        self.examples = {
            name: read(FLAGS.data_dir)
            for wanted, name, read in (
                (FLAGS.do_train, "train", processor.get_train_examples),
                (
                    fine_tuning.needs_dev_set(FLAGS),
                    "eval",
                    processor.get_dev_examples,
                ),
                (FLAGS.do_predict, "predict", processor.get_test_examples),
            )
            if wanted
        }
        self.paths = {
            name: self._write_records(found, tokenizer, f"{name}.tf_record")
            for name, found in self.examples.items()
        }

    def _write_records(self, examples, tokenizer, name):
        logging.info("Writing %d examples to %s", len(examples), name)
        path = os.path.join(runner.records_folder(FLAGS), name)
        with tfrecords.RecordWriter([path]) as writer:
            for feature in swag.create_features(
                examples, FLAGS.max_seq_length, tokenizer
            ):
                writer.write(glue.encode_feature(feature))
        return path

    def create_dataset(self, name, batch_size, skip_records=0):
        """Returns the batches of a set; those of the train set have no end."""
        return tfrecords.create_dataset(
            [self.paths[name]],
            tfrecords.swag_features(FLAGS.max_seq_length, swag.NUM_CHOICES),
            batch_size,
            is_training=name == "train",
            seed=FLAGS.seed,
            skip_records=skip_records,
            trim=runner.trims_padding(FLAGS),
        )

    def describe_batch(self, batch_size, first_record):
        """Names the records of a batch of the train set."""
        return tfrecords.describe_records(
            [self.paths["train"]], FLAGS.seed, first_record, batch_size
        )

    def evaluate(self, run):
        """Returns loss and accuracy on the dev set."""
        labels, outputs, figures = fine_tuning.collect_outputs(
            run,
            self.create_dataset("eval", FLAGS.eval_batch_size),
            len(self.examples["eval"]),
            FLAGS.eval_batch_size,
        )
        scores = metrics.compute_metrics(
            ["accuracy"], labels, self.decoder.predictions(outputs)
        )
        return figures | scores | {"eval_accuracy": scores["accuracy"]}

    def predict(self, run):
        """Writes the predictions of the test set."""
        examples = self.examples["predict"]
        dataset = self.create_dataset("predict", FLAGS.predict_batch_size)
        num_batches = -(-len(examples) // FLAGS.predict_batch_size)
        results = os.path.join(FLAGS.output_dir, "test_results.tsv")
        label_decoding.write_predictions(
            results,
            os.path.join(FLAGS.output_dir, "predictions.jsonl"),
            ({"guid": example.guid} for example in examples),
            (
                outputs
                for _, outputs in run.trainer.predict(dataset, num_batches)
            ),
            self.decoder,
        )
        logging.info("Wrote %d predictions to %s", len(examples), results)


def export_multiple_choice(export_dir, model):
    """Exports the probabilities of the choices.

    The inputs are int32 [batch, choices, length].
    """

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

    signature = [
        tf.TensorSpec([None, None, None], tf.int32, name=name)
        for name in export.INPUT_NAMES
    ]
    export.export_saved_model(
        export_dir,
        model,
        {"serve": (serve, signature)},
        {
            "vocab.txt": Path(FLAGS.vocab_file),
            "bert_config.json": model.config.to_json_string(),
        },
    )


def main(_):
    """Trains, evaluates, predicts and exports as the flags say."""
    config = fine_tuning.check_flags(FLAGS)
    tokenization.validate_case_matches_checkpoint(
        FLAGS.do_lower_case, FLAGS.init_checkpoint
    )
    tokenization.check_vocab(FLAGS.vocab_file, config.vocab_size)
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, FLAGS.do_lower_case
    )
    task = Task(tokenizer)

    num_train_steps, num_warmup_steps, settings = None, 0, {}
    num_examples = len(task.examples.get("train", ()))
    if FLAGS.do_train:
        num_train_steps, num_warmup_steps = runner.num_steps(
            FLAGS, num_examples
        )
        settings = {"train_records": runner.fingerprint([task.paths["train"]])}

    def create_run():
        return runner.Run(
            FLAGS,
            functools.partial(modeling.BertMultipleChoice, config),
            losses.MultipleChoiceLoss(),
            num_train_steps,
            num_warmup_steps,
            # A step sees so many WordPieces of an example.
            FLAGS.max_seq_length * swag.NUM_CHOICES,
            settings,
        )

    run = fine_tuning.train_and_evaluate(
        FLAGS,
        create_run,
        functools.partial(task.create_dataset, "train"),
        num_examples,
        task.evaluate,
        "accuracy",
        describe_batch=task.describe_batch,
    )
    if not run.is_chief:
        # Only the chief writes.
        return
    if FLAGS.do_predict:
        task.predict(run)
    if FLAGS.export_dir:
        export_multiple_choice(FLAGS.export_dir, run.model)
    run.finish()


if __name__ == "__main__":
    cli.run(
        main,
        define_flags,
        ("data_dir", "bert_config_file", "vocab_file", "output_dir"),
    )
