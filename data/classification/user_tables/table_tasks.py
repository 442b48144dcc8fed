"""Defines the tasks in a user's own tables, which --task_name selects."""

import dataclasses
from collections.abc import Sequence

from data.arrays import LabelArray
from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.classification_processor import TaskDefinition
from data.classification.user_tables.table_columns import PairColumns
from model_folders.scores import Scores


def _score_passages(
    examples: Sequence[InputExample],
    gold_labels: LabelArray,
    predictions: LabelArray,
) -> Scores:
    """Returns the metrics of passages, whose queries are the first texts."""
    queries = [example.text_a for example in examples]
    return Scores(metrics.score_ranking(queries, gold_labels, predictions))


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableTaskDefinition(TaskDefinition):
    """Defines a task of a user's own tables, and the columns that it reads.

    Attributes:
        metrics: names of the metrics that score the task, the main metric
            first. By default, the output mode decides.
        pair_columns: the usual columns of pairs with a number. If None, flags
            or the names in --data_file show the columns.
    """

    metrics: tuple[str, ...] = ()
    pair_columns: PairColumns | None = None

    @property
    def is_split_by_first_text(self) -> bool:
        """Whether all rows with the same first text are in the same set.

        This keeps all passages of a query together. Otherwise both texts of a
        pair decide.
        """
        return self.learns_relevances

    @property
    def may_lack_scores(self) -> bool:
        """Whether a train set or a dev set may have no numbers at all.

        Vectors can be learned from pairs that belong together. If some rows of
        a set have numbers, the others are left out.
        """
        return self.learns_vectors

    @property
    def number_column(self) -> str | None:
        """The usual column of the number, None if a task has no usual one."""
        return self.pair_columns and self.pair_columns.label_column

    def may_lack_column(self, label_column: str) -> bool:
        """Returns whether a train set or a dev set may lack the label column.

        A column with another than the usual name must exist, because the user
        named it with --label_column.
        """
        return self.may_lack_scores and label_column == self.number_column


# {value of --task_name: its task of a user's own tables}.
DEFINITION_OF_TABLE_TASK = {
    # A cross-encoder, which ranks passages, has a single output as well.
    "csv": TableTaskDefinition(may_be_cross_encoder=True),
    "embedding": TableTaskDefinition(
        pair_columns=PairColumns("text", "text_b", "score"),
        learns="vectors",
    ),
    "ranking": TableTaskDefinition(
        pair_columns=PairColumns("query", "passage", "relevance"),
        metrics=metrics.RANKING_METRICS,
        score=_score_passages,
        learns="relevances",
    ),
}
