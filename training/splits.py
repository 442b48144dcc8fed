"""Writes the splits of a task as TFRecord files, and reads their batches."""

import os
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from data.io import feature_specs, tfrecords
from data.io.records import RecordWriter
from files import progress
from modeling.config import BertConfig
from training import fingerprints
from training.config import FineTuningConfig
from training.task import Task


def suffix_of(split: str) -> str:
    """Returns "_mm" for the split "eval_mm", and "" for "eval"."""
    return "".join(split.partition("_")[1:])


class Splits:
    """Reads the splits that a command needs, then writes their records.

    Attributes:
        num_examples: {split: number of its examples}.
        num_records: {split: number of its records}.
        records: {split: paths and format of its TFRecord files}.
        checksums: {split: checksum that does not depend on the records' order}.
    """

    def __init__(
        self, task: Task, config: FineTuningConfig, bert_config: BertConfig
    ) -> None:
        self._task, self._config = task, config
        self._sizes = bert_config.vocab_size, bert_config.type_vocab_size
        examples: dict[str, Sequence[Any]] = {}
        for purpose, is_needed in (
            ("train", config.do_train),
            ("eval", config.evaluates),
            ("predict", config.do_predict),
        ):
            for name in task.splits[purpose] if is_needed else ():
                # Read a split only once, even if it is used for two purposes.
                found = None if name in examples else task.read_examples(name)
                if found is not None:
                    examples[name] = found
        task.examples = {}
        # The chief's records stay in the output folder. Other workers write
        # their records to a temporary folder.
        self._folder = config.output_dir
        if not config.is_chief:
            self._folder = tempfile.mkdtemp(prefix="records-")
        self.num_examples: Mapping[str, int] = {
            name: len(found) for name, found in examples.items()
        }
        self.records: dict[str, tfrecords.Records] = {}
        self.checksums: dict[str, int] = {}
        # Remove each split from `examples`, so that the memory of the training
        # examples is freed once their records are written.
        self.num_records: Mapping[str, int] = {
            name: self._write(name, examples.pop(name))
            for name in self.num_examples
        }

    def _write(self, name: str, examples: Sequence[Any]) -> int:
        if name != "train":
            self._task.examples[name] = examples
        path = os.path.join(self._folder, f"{name}.tf_record")
        records = self._task.encode(name, examples)
        checksum = 0
        with RecordWriter([path]) as writer:
            for record in progress.track(records, None, "record", "Writing"):
                writer.write(record)
                checksum += zlib.crc32(record)
        self.checksums[name] = checksum
        spec = dict(self._task.feature_spec(name))
        spec = feature_specs.bounded(spec, *self._sizes)
        self.records[name] = tfrecords.Records([path], spec)
        logging.info(
            "The %s set: %d examples in %d records",
            name,
            len(examples),
            writer.num_records,
        )
        return writer.num_records

    def of(self, purpose: str) -> list[str]:
        """Returns the names of the splits that were read for a purpose.

        `purpose` is "train", "eval" or "predict".
        """
        return [
            name for name in self._task.splits[purpose] if name in self.records
        ]

    def describe(self) -> dict[str, Any]:
        """Describes the dev set, for a run's fingerprint. {} without one."""
        names = self.of("eval")
        if not names:
            return {}
        return {
            "dev_set": [
                [self.checksums[name] for name in names],
                list(self._task.labels or ()),
                *fingerprints.checksums(self._task.eval_files),
            ]
        }

    def create_dataset(self, name: str, batch_size: int) -> tf.data.Dataset:
        """Returns the batches of a split, for evaluation or prediction."""
        return tfrecords.create_dataset(
            self.records[name],
            batch_size,
            is_training=False,
            trim=self._config.unpads,
        )
