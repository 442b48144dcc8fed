"""Knows the sets, the labels and the metrics of a task in a user's tables."""

from collections.abc import Sequence

from data.arrays import LabelArray
from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.classification_processor import (
    ClassificationProcessor,
)
from data.classification.metrics import score_ranking
from data.classification.user_tables.user_table_reader import UserTableReader
from data.sets.file_sets import FileSets

_RANKING_METRICS = ("mrr_10", "ndcg_10")


class UserTableProcessor(ClassificationProcessor):
    """The task of a user's own tables, whose rows a `UserTableReader` reads.

    FILES_OF_SET names the files. A label in the dev or test set must be a label
    of the task (see `read_labels`). Unless --labels names the labels, the train
    set is therefore read before another set.

    Args:
        reader: reads the tables.
        file_sets: the sets, whose files `reader` reads.

    Attributes:
        file_sets: the argument.
    """

    test_set_has_labels = True

    def __init__(
        self, reader: UserTableReader, file_sets: FileSets[InputExample]
    ) -> None:
        super().__init__(file_sets)
        self.file_sets = file_sets
        self.output_mode = reader.output_mode
        self.text_columns = reader.text_columns
        self.metrics = metrics.METRICS_OF_MODE[reader.output_mode]
        if reader.has_queries:
            self.metrics = _RANKING_METRICS
        self._has_queries = reader.has_queries

    def read_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression.

        If --labels does not name them, the first call reads the train set.

        Raises:
            OSError: --labels is not set, and the train set does not exist.
            ValueError: the train set is malformed or contains too few labels.
        """
        return self.file_sets.read_labels()

    def score(
        self,
        examples: Sequence[InputExample],
        labels: LabelArray,
        predictions: LabelArray,
    ) -> dict[str, float]:
        """Computes the task's metrics, of a ranking those of its queries."""
        if not self._has_queries:
            return super().score(examples, labels, predictions)
        queries = [example.text_a for example in examples]
        means = score_ranking(queries, labels, predictions)
        return dict(zip(self.metrics, means, strict=True))
