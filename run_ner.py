"""Fine-tunes BERT to tag named entities (CoNLL-2003), and predicts.

Training goes on from the newest checkpoint of --output_dir, if there is one.
"""

import functools
import json
import os

import numpy as np
from absl import flags, logging

import modeling
from data import files, ner, ner_scoring, tfrecords, tokenization
from modeling import losses
from serving.ner import export_token_classifier
from training import cli, fine_tuning, progress, runner
from training import flags as common_flags

FLAGS = flags.FLAGS


def define_flags():
    """Defines the flags that the other tasks have too, and the task's own."""
    common_flags.define_model_flags()
    common_flags.define_text_flags()
    common_flags.define_task_flags()
    common_flags.define_training_flags(learning_rate=5e-5)
    common_flags.define_fine_tuning_flags()
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    flags.DEFINE_bool(
        "document_context",
        False,
        "Read whole documents, as the paper did, and not each sentence alone.",
    )
    flags.DEFINE_list(
        "labels",
        None,
        "The tags in their order; by default those of the train set, O "
        "first, or those that the model was trained with.",
    )


class Task:
    """The sets as records, and what is made of the model's outputs.

    Args:
        processor: NerProcessor.
        label_list: list of str.
        tokenizer: FullTokenizer.
    """

    def __init__(self, processor, label_list, tokenizer):
        self.label_list = label_list
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
        # Decoding needs the windows of a set; of the train set none is kept.
        self.features, self.num_windows, self.paths = {}, {}, {}
        for name in self.examples:
            self._write_records(name, tokenizer)

    def _write_records(self, name, tokenizer):
        self.paths[name] = os.path.join(
            runner.records_folder(FLAGS), f"{name}.tf_record"
        )
        self.features[name] = []
        features = ner.create_features(
            self.examples[name],
            self.label_list,
            FLAGS.max_seq_length,
            tokenizer,
            FLAGS.document_context,
        )
        with tfrecords.RecordWriter([self.paths[name]]) as writer:
            for feature in progress.track(features, None, "window", "Writing"):
                writer.write(ner.encode_feature(feature))
                if name != "train":
                    self.features[name].append(feature)
        self.num_windows[name] = writer.num_records
        logging.info(
            "%d sentences, %d windows to %s on",
            len(self.examples[name]),
            writer.num_records,
            name,
        )

    def create_dataset(self, name, batch_size, skip_records=0):
        """Returns the batches of a set; those of the train set have no end."""
        return tfrecords.create_dataset(
            [self.paths[name]],
            tfrecords.ner_features(FLAGS.max_seq_length),
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

    def tag(self, run, name, batch_size):
        """Returns the tags of each sentence, and the loss's figures."""
        loss, predicted_ids, parts = run.trainer.loss, [], []
        for features, logits in run.trainer.predict(
            self.create_dataset(name, batch_size),
            -(-self.num_windows[name] // batch_size),
            "Tagging",
        ):
            predicted_ids += list(np.argmax(logits, axis=-1))
            parts.append(
                (
                    float(loss.sums(logits, features)["loss"]),
                    float(loss.weights(features)["loss"]),
                )
            )
        tags = ner.decode_predictions(
            self.examples[name],
            self.features[name],
            predicted_ids,
            self.label_list,
        )
        sums, weights = np.array(parts).T
        return tags, {
            "eval_loss": float(sums.sum() / max(weights.sum(), 1.0)),
            "global_step": run.global_step,
            "loss": float(np.mean(sums / np.maximum(weights, 1.0))),
        }

    def evaluate(self, run):
        """Returns the loss, and conlleval's figures, on the dev set."""
        tags, figures = self.tag(run, "eval", FLAGS.eval_batch_size)
        right = [example.labels for example in self.examples["eval"]]
        return figures | ner_scoring.score_entities(right, tags)

    def predict(self, run):
        """Writes the test set's tags, and scores where it has tags itself."""
        examples = self.examples["predict"]
        tags, _ = self.tag(run, "predict", FLAGS.predict_batch_size)
        path = os.path.join(FLAGS.output_dir, "test_predictions.txt")
        ner.write_predictions(path, examples, tags)
        with files.atomic_open(
            os.path.join(FLAGS.output_dir, "predictions.jsonl")
        ) as lines:
            for example, labels in zip(examples, tags, strict=True):
                entry = {
                    "guid": example.guid,
                    "words": example.words,
                    "labels": labels,
                }
                line = json.dumps(entry, ensure_ascii=False)
                lines.write(f"{line}\n".encode())
        logging.info("Wrote %d sentences to %s", len(tags), path)
        right = [example.labels for example in examples]
        if any(label != "O" for labels in right for label in labels):
            run.write_results(
                "test_eval_results.txt",
                ner_scoring.score_entities(right, tags)
                | {"global_step": run.global_step},
            )


def main(_):
    """Trains, evaluates, predicts and exports as the flags say."""
    config = fine_tuning.check_flags(FLAGS)
    tokenization.validate_case_matches_checkpoint(
        FLAGS.do_lower_case, FLAGS.init_checkpoint
    )
    tokenization.check_vocab(FLAGS.vocab_file, config.vocab_size)
    saved_labels = fine_tuning.read_labels(FLAGS)
    labels = FLAGS.labels
    if labels is None and not FLAGS.do_train:
        labels = saved_labels
    processor = ner.NerProcessor(labels)
    label_list = processor.get_labels(FLAGS.data_dir)
    fine_tuning.check_labels(label_list, saved_labels)
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, FLAGS.do_lower_case
    )
    task = Task(processor, label_list, tokenizer)

    num_train_steps, num_warmup_steps, settings = None, 0, {}
    num_windows = task.num_windows.get("train", 0)
    if FLAGS.do_train:
        num_train_steps, num_warmup_steps = runner.num_steps(FLAGS, num_windows)
        settings = {
            "labels": label_list,
            "train_records": runner.fingerprint([task.paths["train"]]),
        }

    def create_run():
        return runner.Run(
            FLAGS,
            functools.partial(
                modeling.BertTokenClassifier, config, len(label_list)
            ),
            losses.TokenLoss(),
            num_train_steps,
            num_warmup_steps,
            FLAGS.max_seq_length,
            settings,
        )

    run = fine_tuning.train_and_evaluate(
        FLAGS,
        create_run,
        functools.partial(task.create_dataset, "train"),
        num_windows,
        task.evaluate,
        "f1",
        label_list,
        task.describe_batch,
    )
    if not run.is_chief:
        # Only the chief writes.
        return
    if FLAGS.do_predict:
        task.predict(run)
    if FLAGS.export_dir:
        export_token_classifier(
            FLAGS.export_dir,
            run.model,
            label_list,
            FLAGS.vocab_file,
            FLAGS.do_lower_case,
            FLAGS.max_seq_length,
            FLAGS.predict_batch_size,
        )
    run.finish()


if __name__ == "__main__":
    cli.run(
        main,
        define_flags,
        ("data_dir", "bert_config_file", "vocab_file", "output_dir"),
    )
