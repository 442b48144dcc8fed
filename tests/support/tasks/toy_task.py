"""Defines a task that tests can train without a script or data files.

For example:

    task = run_task(ToyTask, create_run_flags(tmp_path, do_train=True))
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import keras
import tensorflow as tf

import modeling
from data.arrays import FloatArray
from data.io import feature_specs
from data.io.tf_examples import encode_example
from data.text.tokenization import FullTokenizer
from files.paths import StrPath
from model_folders.scores import Scores
from model_folders.training_settings import TrainingSettings
from modeling import losses
from modeling.bert import EncoderOutputs
from modeling.tensors import Features, Tensor
from options.parsed_command import ParsedCommand
from tests.support.models import write_config
from tests.support.paths import SAMPLES
from tests.support.script_runner import Flags
from training.config.fine_tuning_config import FineTuningConfig
from training.fine_tuning.flow import fine_tune
from training.loop import trainer_loading
from training.loop.run_plan import RunPlan
from training.loop.trainer import Trainer
from training.preparation.starting_point_loading import load_starting_point
from training.run_files.run_folder import RunFolder
from training.starting_point import InitialFolder, StartingPoint
from training.task import (
    AnyFineTuningTask,
    Batches,
    EncodedSet,
    FineTuningTask,
    Scoring,
)

TaskT = TypeVar("TaskT", bound=AnyFineTuningTask)


def create_flags(folder: StrPath, **changes: object) -> Flags:
    """Returns {flag: value} of a task whose --output_dir is `folder`."""
    defaults: Flags = {
        "bert_config_file": "bert_config.json",
        "vocab_file": "vocab.txt",
        "output_dir": str(folder),
        "data_dir": "data",
    }
    return defaults | changes


def create_command(flags: Flags) -> ParsedCommand[FineTuningConfig]:
    """Returns the command of a user who set these flags."""
    return ParsedCommand(FineTuningConfig.from_values(**flags), flags)


def create_config(folder: StrPath, **changes: object) -> FineTuningConfig:
    """Returns the Config of a task whose --output_dir is `folder`."""
    return create_command(create_flags(folder, **changes)).config


def load_toy_starting_point(
    folder: Path, **changes: object
) -> StartingPoint[FineTuningConfig]:
    """Loads the StartingPoint of a command whose --output_dir is `folder`.

    Writes the configuration of a tiny network beside the folder.
    """
    config_file = folder.with_name("bert_config.json")
    write_config(config_file)
    defaults = {
        "bert_config_file": str(config_file),
        "vocab_file": str(SAMPLES / "vocab.txt"),
    }
    flags = create_flags(folder, **defaults | changes)
    return load_starting_point(create_command(flags))


def create_starting_point(
    config: FineTuningConfig,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None = None,
    *,
    set_by_user: Iterable[str] = (),
) -> StartingPoint[FineTuningConfig]:
    """Returns the start of a command, for which no file is read."""
    return StartingPoint(
        parsed=ParsedCommand(config, dict.fromkeys(set_by_user)),
        initial_folder=InitialFolder(),
        bert_config=bert_config,
        tokenizer=tokenizer,
    )


def load_tokenizer() -> FullTokenizer:
    """Returns the tokenizer of the samples, as every task has one."""
    return FullTokenizer(SAMPLES / "vocab.txt")


def create_trainer(
    created: AnyFineTuningTask, labels: Sequence[str] | None = None
) -> Trainer:
    """Returns the Trainer of a task's command that does not train."""
    plan = RunPlan(
        create_model=created.create_model,
        loss=created.loss,
        num_steps=None,
        training_settings=TrainingSettings(),
    )
    return trainer_loading.create_trainer(
        created.starting_point,
        RunFolder.open(created.starting_point, labels),
        plan,
        strategy=tf.distribute.get_strategy(),
    )


def run_task(
    task_class: Callable[..., TaskT], flags: Flags, *arguments: object
) -> TaskT:
    """Runs a task as its script does, and returns the task.

    `arguments` are those of the class after the starting point.
    """
    starting_point = load_starting_point(create_command(flags))
    created = task_class(starting_point, *arguments)
    fine_tune(created)
    return created


def create_run_flags(
    folder: Path, num_hidden_layers: int = 1, **changes: object
) -> Flags:
    """Returns {flag: value} to train a tiny model in FOLDER/run."""
    config = folder / "config.json"
    write_config(config, num_hidden_layers=num_hidden_layers)
    return create_flags(
        folder / "run",
        bert_config_file=str(config),
        vocab_file=str(SAMPLES / "vocab.txt"),
        train_batch_size=4,
        summary_steps=0,
        **changes,
    )


class BertClassifier(modeling.BertClassifier):
    """Contains all weights of BERT, but uses only word embeddings and the head.

    This saves the second that TensorFlow needs to trace a block. The class name
    is BertClassifier, because descriptions of a model contain it.
    """

    def encode(
        self, features: Features, training: bool, seed: Tensor | None
    ) -> tuple[EncoderOutputs, Tensor | None]:
        words = self.bert.embeddings.word_embeddings
        embedded = keras.ops.take(words, features["input_ids"], axis=0)
        pooled = keras.ops.mean(embedded, axis=1)
        outputs: EncoderOutputs = {
            "embedding_output": embedded,
            "all_encoder_layers": [embedded],
            "sequence_output": embedded,
            "pooled_output": pooled,
        }
        if training and seed is None:
            seed = self.draw_seed()
        return outputs, seed


class ToyTask(FineTuningTask[FineTuningConfig, int, None, FloatArray]):
    """Classifies sequences of WordPieces, by default all of one length.

    Args:
        starting_point: as in `FineTuningTask`.
        **changes: arguments of `FineTuningTask` that differ from the toy's.

    Attributes:
        num_examples: number of examples in each set.
        max_seq_length: number of WordPieces in each record.
    """

    num_examples = 12
    max_seq_length = 8

    def __init__(
        self, starting_point: StartingPoint[FineTuningConfig], **changes: Any
    ) -> None:
        arguments: dict[str, Any] = {
            "loss": losses.ClassifierLoss(),
            "scoring": Scoring(
                ("accuracy",), eval_loss=losses.ClassifierLoss()
            ),
        }
        super().__init__(starting_point, **arguments | changes)

    def take_examples(self, set_name: str) -> Sequence[int]:
        return range(self.num_examples)

    def encode(
        self, set_name: str, examples: Iterable[int]
    ) -> Iterator[tuple[bytes, None]]:
        for number in examples:
            length = self.length(number)
            padding = [0] * (self.max_seq_length - length)
            record = encode_example(
                {
                    "input_ids": self.ids(number) + padding,
                    "input_mask": [1] * length + padding,
                    "segment_ids": [0] * self.max_seq_length,
                    "label_ids": [self.label(number)],
                    "is_real_example": [1],
                }
            )
            yield record, None

    def length(self, number: int) -> int:
        return self.max_seq_length

    def ids(self, number: int) -> list[int]:
        return [number] * self.length(number)

    def label(self, number: int) -> int:
        return number % 2

    def feature_spec(self, set_name: str) -> feature_specs.RecordSpec:
        return feature_specs.classifier_spec(self.max_seq_length)

    def create_model(
        self, bert_config: modeling.BertConfig, **arguments: Any
    ) -> BertClassifier:
        return BertClassifier(bert_config, 2, **arguments)

    def compute_scores(
        self,
        encoded_set: EncodedSet[int, None],
        batches: Batches[FloatArray],
    ) -> Scores:
        for _ in batches:
            pass
        return Scores({"accuracy": 0.5})

    def write_and_score_predictions(
        self,
        encoded_set: EncodedSet[int, None],
        batches: Batches[FloatArray],
        output_dir: str,
    ) -> Scores:
        return Scores()


class TwoRecordsTask(ToyTask):
    """A task whose examples have two records each, and count by themselves."""

    def epoch_length(self, train_set: EncodedSet[int, None]) -> int:
        return train_set.num_examples

    def encode(
        self, set_name: str, examples: Iterable[int]
    ) -> Iterator[tuple[bytes, None]]:
        for record in super().encode(set_name, examples):
            yield record
            yield record
