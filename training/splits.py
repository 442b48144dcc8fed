"""The splits of a task, as TFRecord files and as batches."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from data.io import feature_specs, tfrecords
from files import progress, run_files
from training.callbacks.distillation import Teacher
from training.config import FineTuningConfig
from training.task import Task


def suffix_of(split: str) -> str:
    """Returns "_mm" of the split "eval_mm", and "" of "eval"."""
    return "".join(split.partition("_")[1:])


class Splits:
    """The splits that the config need; all are read before any is written.

    Args:
        task: a prepared Task.
        config: FineTuningConfig.

    Attributes:
        num_examples: {split: its examples}.
        num_records: {split: its records}.
    """

    def __init__(self, task: Task, config: FineTuningConfig) -> None:
        self._task, self._trim = task, config.unpads
        # Specs of splits whose records hold more than the task wrote.
        self._specs: dict[str, feature_specs.Spec] = {}
        examples: dict[str, Sequence[Any]] = {}
        for purpose, is_needed in (
            ("train", config.do_train),
            ("eval", config.evaluates),
            ("predict", config.do_predict),
        ):
            for name in task.splits[purpose] if is_needed else ():
                # A split may serve two purposes.
                found = None if name in examples else task.read_examples(name)
                if found is not None:
                    examples[name] = found
        task.examples = {}
        # The chief's records stay in the output folder; other workers, which
        # write nothing there, write theirs to a temporary one.
        folder = config.output_dir
        if not config.is_chief:
            folder = tempfile.mkdtemp(prefix="records-")
        self.num_examples: Mapping[str, int] = {
            name: len(found) for name, found in examples.items()
        }
        self._paths = {
            name: os.path.join(folder, f"{name}.tf_record")
            for name in self.num_examples
        }
        # Free the training examples once their records are written.
        self.num_records: Mapping[str, int] = {
            name: self._write(name, examples.pop(name)) for name in self._paths
        }

    def _write(self, name: str, examples: Sequence[Any]) -> int:
        if name != "train":
            self._task.examples[name] = examples
        records = self._task.encode(name, examples)
        with tfrecords.RecordWriter([self._paths[name]]) as writer:
            for record in progress.track(records, None, "record", "Writing"):
                writer.write(record)
        # Left by a killed run; only the task knows the names of its splits.
        folder, file = os.path.split(self._paths[name])
        run_files.register(file)
        run_files.remove_partial_files(folder)
        logging.info(
            "The split %s: %d examples, %d records",
            name,
            len(examples),
            writer.num_records,
        )
        return writer.num_records

    def of(self, purpose: str) -> list[str]:
        """Returns the names of the existing splits for a purpose."""
        return [
            name for name in self._task.splits[purpose] if name in self._paths
        ]

    def files(self, name: str) -> list[str]:
        """Returns the TFRecord files of a split."""
        return [self._paths[name]]

    def add_teacher(self, teacher: Teacher) -> None:
        """Adds a teacher's outputs to the records of "train"."""
        folder, _ = os.path.split(self._paths["train"])
        path = os.path.join(folder, "train_teacher.tf_record")
        self._specs["train"] = teacher.add_outputs(
            self._paths["train"], path, dict(self._task.feature_spec("train"))
        )
        self._paths["train"] = path

    def create_dataset(
        self,
        name: str,
        batch_size: int,
        skip_records: int = 0,
        seed: int | None = None,
    ) -> tf.data.Dataset:
        """Returns the batches of a split.

        Args:
            name: of the split. The batches of "train" are shuffled and have
                no end.
            batch_size: examples in a batch.
            skip_records: records at the front to leave out.
            seed: determines the order of "train".
        """
        return tfrecords.create_dataset(
            tfrecords.Records(
                self.files(name),
                self._specs.get(name) or dict(self._task.feature_spec(name)),
            ),
            batch_size,
            is_training=name == "train",
            seed=seed,
            skip_records=skip_records,
            trim=self._trim,
        )

    def describe_batch(
        self, seed: int, batch_size: int, first_record: int
    ) -> str:
        """Returns text that names the records of a batch of "train"."""
        return tfrecords.describe_records(
            self.files("train"), seed, first_record, batch_size
        )
