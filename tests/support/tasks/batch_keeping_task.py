"""Defines a task that keeps the batches of its evaluation.

For example:

    task = BatchKeepingTask(tmp_path, rows=[[5, 6, 7], [8, 9]])
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from data.arrays import FloatArray
from files.paths import StrPath
from model_folders.reading.preset import read_preset
from model_folders.scores import Scores
from modeling import BertConfig
from tests.support.serving import exports
from tests.support.tasks import toy_task
from training.fine_tuning import checked_export, encoded_sets
from training.task import Batches, EncodedSet

LENGTH = exports.LENGTH


class BatchKeepingTask(toy_task.ToyTask):
    """Keeps the features and outputs of each batch.

    Args:
        folder: --output_dir of the run.
        rows: ids of the WordPieces of each example, without padding.
        max_seq_length: length to which the records are padded.

    Attributes:
        batches: features and outputs of each batch, after `compute_scores`.
    """

    def __init__(
        self,
        folder: StrPath,
        rows: Sequence[list[int]],
        max_seq_length: int = LENGTH,
    ) -> None:
        self.rows = rows
        self.num_examples = len(rows)
        self.max_seq_length = max_seq_length
        flags = {"max_seq_length": max_seq_length, "do_eval": True}
        self.starting_point = toy_task.create_starting_point(
            toy_task.create_config(folder, **flags),
            BertConfig(vocab_size=1600),
            toy_task.load_tokenizer(),
        )
        super().__init__(self.starting_point)

    def length(self, number: int) -> int:
        return len(self.rows[number])

    def ids(self, number: int) -> list[int]:
        return self.rows[number]

    def compute_scores(
        self, encoded_set: EncodedSet[int, None], batches: Batches[FloatArray]
    ) -> Scores:
        self.batches = [*batches]
        return Scores({"count": len(self.batches)})

    def evaluate_export(self, folder: Path) -> Mapping[str, Scores]:
        """Returns the scores of an export on the task's records."""
        written = encoded_sets.write_encoded_sets(
            self, self.config.state_folder
        )
        model_class: Any = read_preset(folder).model_class
        return checked_export.evaluate_export(
            self, model_class, folder, [*written.values()]
        )
