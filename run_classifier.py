"""Fine-tunes BERT to classify a sentence or a pair, evaluates and predicts.

GLUE's tasks, XNLI, and a user's own tables (--task_name=csv). Training goes
on from the newest checkpoint of --output_dir, if there is one.
"""

import functools
import os

import numpy as np
from absl import flags, logging

import modeling
from data import (
    glue,
    glue_tasks,
    label_decoding,
    table_task,
    tfrecords,
    tokenization,
)
from modeling import losses
from serving.classifier import export_classifier
from training import cli, fine_tuning, metrics, runner
from training import flags as common_flags

FLAGS = flags.FLAGS

TASKS = sorted([*glue_tasks.PROCESSORS, "csv"])

LOSSES = {
    "classification": losses.ClassifierLoss,
    "multilabel": losses.MultiLabelLoss,
    "regression": losses.RegressionLoss,
}


def define_flags():
    """Defines the original's flags, and those this project adds."""
    common_flags.define_model_flags()
    common_flags.define_text_flags()
    common_flags.define_task_flags()
    common_flags.define_training_flags(learning_rate=5e-5)
    common_flags.define_fine_tuning_flags()
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    flags.DEFINE_string(
        "task_name",
        None,
        f"One of {', '.join(TASKS)}; csv is your own train, dev and test "
        "files, .csv, .tsv or .jsonl.",
    )
    flags.DEFINE_enum(
        "xnli_language",
        "zh",
        glue.XnliProcessor.languages,
        "XNLI's language.",
    )
    flags.DEFINE_bool(
        "glue_submission",
        False,
        "Write the predictions also as GLUE's site takes them.",
    )
    define_table_flags()


def define_table_flags():
    """Defines how the tables of --task_name=csv are read."""
    flags.DEFINE_string(
        "text_column",
        "text",
        "Column of the text. Where all columns are given by number, from 1, "
        "a table's first line does not name them.",
    )
    flags.DEFINE_string(
        "text_b_column", None, "Column of the second text of a pair."
    )
    flags.DEFINE_string("label_column", "label", "Column of the label.")
    flags.DEFINE_string(
        "id_column",
        None,
        "Column that names each example in the predictions; by default they "
        "are numbered.",
    )
    flags.DEFINE_list(
        "labels",
        None,
        "The labels in their order; by default those of the train set, "
        "sorted, or those that the model was trained with.",
    )
    flags.DEFINE_enum(
        "output_mode",
        "classification",
        list(LOSSES),
        "One label each; any number of labels; or a number.",
    )
    flags.DEFINE_string(
        "label_separator", ",", "Parts the labels of a multilabel cell."
    )
    flags.DEFINE_bool(
        "quoting", True, 'Whether " quotes cells; else it is a character.'
    )


def create_processors(saved_labels):
    """Returns {suffix: processor} of --task_name, see glue_tasks.

    Args:
        saved_labels: those that the model was trained with, or None.

    Raises:
        ValueError: there is no such task.
    """
    name = FLAGS.task_name.lower()
    if name not in TASKS:
        raise ValueError(
            f"--task_name={FLAGS.task_name} is not known; give one of "
            f"{', '.join(TASKS)}"
        )
    if name == "csv":
        return {"": create_table_processor(saved_labels)}
    return glue_tasks.create_processors(name, FLAGS.xnli_language)


def create_table_processor(saved_labels):
    """Returns the processor of the user's own tables."""
    labels = FLAGS.labels
    if labels is None and not FLAGS.do_train:
        labels = saved_labels
    return table_task.TableProcessor(
        FLAGS.data_dir,
        FLAGS.text_column,
        FLAGS.label_column,
        FLAGS.text_b_column,
        labels,
        FLAGS.output_mode,
        FLAGS.label_separator,
        FLAGS.quoting,
        FLAGS.id_column,
    )


def read_examples(processors):
    """Returns {(set, suffix): InputExamples} of the sets that are needed."""
    examples = {}
    for suffix, processor in processors.items():
        for wanted, name, read in (
            (FLAGS.do_train, "train", processor.get_train_examples),
            (
                fine_tuning.needs_dev_set(FLAGS),
                "eval",
                processor.get_dev_examples,
            ),
            (FLAGS.do_predict, "predict", processor.get_test_examples),
        ):
            if not wanted or (suffix and name == "train"):
                continue
            try:
                found = read(FLAGS.data_dir)
            except FileNotFoundError:
                if not suffix:
                    raise
                continue
            logging.info("%d examples to %s on", len(found), name + suffix)
            examples[name, suffix] = found
    return examples


class Task:
    """The task's sets as records, and what is made of the model's outputs.

    Args:
        processors: see create_processors.
        label_list: list of str; None in regression.
        tokenizer: FullTokenizer.
    """

    def __init__(self, processors, label_list, tokenizer):
        self.decoder = label_decoding.LabelDecoder(
            processors[""].output_mode, label_list
        )
        self.metrics = processors[""].metrics
        self.processors = processors
        self.examples = read_examples(processors)
        self._folder = runner.records_folder(FLAGS)
        self.paths = {
            (name, suffix): self._write_records(
                found, tokenizer, f"{name}{suffix}.tf_record"
            )
            for (name, suffix), found in self.examples.items()
        }

    def _write_records(self, examples, tokenizer, name):
        path = os.path.join(self._folder, name)
        with tfrecords.RecordWriter([path]) as writer:
            for feature in glue.convert_examples_to_features(
                examples,
                self.decoder.label_list,
                FLAGS.max_seq_length,
                tokenizer,
            ):
                writer.write(glue.encode_feature(feature))
        return path

    def create_dataset(self, key, batch_size, skip_records=0):
        """Returns the batches of a set; those of the train set have no end."""
        spec = tfrecords.classifier_features(
            FLAGS.max_seq_length,
            self.decoder.output_mode,
            self.decoder.num_outputs,
        )
        if key[0] == "predict":
            # The labels of a test set need not be known.
            del spec["label_ids"]
        return tfrecords.create_dataset(
            [self.paths[key]],
            spec,
            batch_size,
            is_training=key[0] == "train",
            seed=FLAGS.seed,
            skip_records=skip_records,
            trim=runner.trims_padding(FLAGS),
        )

    def describe_batch(self, batch_size, first_record):
        """Names the records of a batch of the train set."""
        return tfrecords.describe_records(
            [self.paths["train", ""]], FLAGS.seed, first_record, batch_size
        )

    def evaluate(self, run):
        """Returns the original's figures and the benchmark's, of each set."""
        results = {}
        for name, suffix in self.examples:
            if name != "eval":
                continue
            labels, outputs, figures = fine_tuning.collect_outputs(
                run,
                self.create_dataset((name, suffix), FLAGS.eval_batch_size),
                len(self.examples[name, suffix]),
                FLAGS.eval_batch_size,
            )
            predictions = self.decoder.predictions(outputs)
            if self.decoder.output_mode == "classification":
                figures["eval_accuracy"] = float(np.mean(predictions == labels))
            figures |= metrics.compute_metrics(
                self.metrics, labels, predictions
            )
            if suffix:
                del figures["global_step"]
            results |= {key + suffix: value for key, value in figures.items()}
        return results

    def score(self, examples, predicted):
        """Scores predicted labels by the examples' own.

        Args:
            examples: list of InputExamples; those without a label are left
                out and counted.
            predicted: what `LabelDecoder.labels` gives for them.

        Returns:
            the benchmark's figures; {} where too few examples have a label.
        """
        pairs = [
            (example.label, label)
            for example, label in zip(examples, predicted, strict=True)
            if example.label is not None
        ]
        # There is no correlation of one number.
        if len(pairs) < (2 if self.decoder.output_mode == "regression" else 1):
            return {}
        right, found = (
            self.decoder.label_ids(labels)
            for labels in zip(*pairs, strict=True)
        )
        scores = metrics.compute_metrics(self.metrics, right, found)
        if len(pairs) < len(examples):
            scores["num_without_label"] = len(examples) - len(pairs)
            logging.warning(
                "%d of %d test examples have no label and are not scored",
                len(examples) - len(pairs),
                len(examples),
            )
        return scores

    def predict(self, run):
        """Writes the predictions of each test set, and scores known labels."""
        for name, suffix in self.examples:
            if name != "predict":
                continue
            examples = self.examples[name, suffix]
            has_labels = self.processors[suffix].test_set_has_labels
            dataset = self.create_dataset(
                (name, suffix), FLAGS.predict_batch_size
            )
            num_batches = -(-len(examples) // FLAGS.predict_batch_size)
            results = os.path.join(
                FLAGS.output_dir, f"test_results{suffix}.tsv"
            )
            labels = label_decoding.write_predictions(
                results,
                os.path.join(FLAGS.output_dir, f"predictions{suffix}.jsonl"),
                [
                    label_decoding.describe_example(example, has_labels)
                    for example in examples
                ],
                (
                    outputs
                    for _, outputs in run.trainer.predict(dataset, num_batches)
                ),
                self.decoder,
            )
            logging.info("Wrote %d predictions to %s", len(labels), results)
            scores = has_labels and self.score(examples, labels)
            if scores:
                run.write_results(
                    f"test_eval_results{suffix}.txt",
                    scores | {"global_step": run.global_step},
                )
            if FLAGS.glue_submission:
                task_name = FLAGS.task_name.lower() + suffix.replace("_", "-")
                path = glue_tasks.write_submission(
                    FLAGS.output_dir, task_name, labels
                )
                logging.info("Wrote GLUE's submission to %s", path)


def check_flags():
    """Refuses contradictory flags before any long work.

    Returns:
        BertConfig.

    Raises:
        ValueError: a flag does not fit another, or the files they name.
    """
    config = fine_tuning.check_flags(FLAGS)
    if FLAGS.glue_submission:
        glue_tasks.submission_file(FLAGS.task_name.lower())
        if not FLAGS.do_predict:
            raise ValueError("--glue_submission needs --do_predict")
    tokenization.validate_case_matches_checkpoint(
        FLAGS.do_lower_case, FLAGS.init_checkpoint
    )
    tokenization.check_vocab(FLAGS.vocab_file, config.vocab_size)
    return config


def main(_):
    """Trains, evaluates, predicts and exports as the flags say."""
    config = check_flags()
    saved_labels = fine_tuning.read_labels(FLAGS)
    processors = create_processors(saved_labels)
    label_list = processors[""].get_labels()
    fine_tuning.check_labels(label_list, saved_labels)
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, FLAGS.do_lower_case
    )
    task = Task(processors, label_list, tokenizer)

    num_train_steps, num_warmup_steps, settings = None, 0, {}
    num_examples = 0
    if FLAGS.do_train:
        num_examples = len(task.examples["train", ""])
        num_train_steps, num_warmup_steps = runner.num_steps(
            FLAGS, num_examples
        )
        settings = {
            "task_name": FLAGS.task_name.lower(),
            "output_mode": task.decoder.output_mode,
            "labels": label_list,
            "train_records": runner.fingerprint([task.paths["train", ""]]),
        }

    def create_run():
        return runner.Run(
            FLAGS,
            functools.partial(
                modeling.BertClassifier, config, task.decoder.num_outputs
            ),
            LOSSES[task.decoder.output_mode](),
            num_train_steps,
            num_warmup_steps,
            FLAGS.max_seq_length,
            settings,
        )

    run = fine_tuning.train_and_evaluate(
        FLAGS,
        create_run,
        functools.partial(task.create_dataset, ("train", "")),
        num_examples,
        task.evaluate,
        # The last one is the one that the paper reports.
        task.metrics[-1],
        label_list,
        task.describe_batch,
    )
    if not run.is_chief:
        # Only the chief writes.
        return
    if FLAGS.do_predict:
        task.predict(run)
    if FLAGS.export_dir:
        export_classifier(
            FLAGS.export_dir,
            run.model,
            label_list,
            FLAGS.vocab_file,
            FLAGS.do_lower_case,
            FLAGS.max_seq_length,
            task.decoder.output_mode,
        )
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
