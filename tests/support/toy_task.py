"""Defines a task that tests can train without a script or data files."""

import keras

import modeling
from data.io import feature_specs
from data.io.records import encode_example
from modeling import losses
from tests.conftest import write_config
from training import fine_tuning, task
from training.fine_tuning_config import FineTuningConfig
from training.resolve import read_preset, resolve


def create_config(folder, **changes):
    """Returns the flags of a task whose --output_dir is `folder`."""
    defaults = {
        "bert_config_file": "bert_config.json",
        "vocab_file": "vocab.txt",
        "output_dir": str(folder),
        "data_dir": "data",
    }
    return FineTuningConfig(**defaults | changes)


def resolve_config(folder, **changes):
    """Returns the flags as a script completes them."""
    config = create_config(folder, **changes)
    return resolve(config, read_preset(config))


def run(task, config):
    """Runs a task as a script does."""
    fine_tuning.run(task, config, read_preset(config))


def create_run(folder, num_hidden_layers=1, **changes):
    """Returns the flags to train a tiny model in FOLDER/run."""
    config = folder / "config.json"
    write_config(config, num_hidden_layers=num_hidden_layers)
    return create_config(
        folder / "run",
        bert_config_file=str(config),
        train_batch_size=4,
        summary_steps=0,
        **changes,
    )


class BertClassifier(modeling.BertClassifier):
    """Contains all weights of BERT, but uses only word embeddings and the head.

    This saves the second that TensorFlow needs to trace a block. The class name
    is BertClassifier, because descriptions of a model contain it.
    """

    def encode(self, features, training, seed):
        words = self.bert.embeddings.word_embeddings
        found = keras.ops.take(words, features["input_ids"], axis=0)
        outputs = {"pooled_output": keras.ops.mean(found, axis=1)}
        return outputs, self.draw_seed(training) if seed is None else seed


class ToyTask(task.Task):
    """Classifies sequences of WordPieces, by default all of one length.

    Attributes:
        num_examples: number of examples in each split.
        max_seq_length: number of WordPieces in each record.
    """

    loss = eval_loss = losses.ClassifierLoss()
    tokenizer = None
    metrics = ("accuracy",)
    num_examples = 12
    max_seq_length = 8

    def __init__(self, options=None):
        self.options = options

    def read_examples(self, split):
        return range(self.num_examples)

    def encode(self, split, examples):
        for number in examples:
            length = self.length(number)
            padding = [0] * (self.max_seq_length - length)
            yield encode_example(
                {
                    "input_ids": self.ids(number) + padding,
                    "input_mask": [1] * length + padding,
                    "segment_ids": [0] * self.max_seq_length,
                    "label_ids": [self.label(number)],
                    "is_real_example": [1],
                }
            )

    def length(self, number):
        return self.max_seq_length

    def ids(self, number):
        return [number] * self.length(number)

    def label(self, number):
        return number % 2

    def feature_spec(self, split):
        return feature_specs.classifier_features(self.max_seq_length)

    def create_model(self, config, **options):
        return BertClassifier(config, 2, **options)

    def evaluate(self, split, batches):
        return {"accuracy": 0.5}

    def write_predictions(self, split, batches, output_dir):
        return {}
