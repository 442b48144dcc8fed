"""Reads tables of pairs of texts, for the tasks "ranking" and "embedding".

A pair is a query and a passage to rank, or two texts that may be similar.
"""

from collections.abc import Collection, Iterable, Sequence

from data.arrays import LabelArray
from data.classification.classification_examples import InputExample
from data.classification.pairs.pair_scoring import score_ranking
from data.classification.table_tasks.row_parsing import ParsedRow
from data.classification.table_tasks.table_processor import TableProcessor
from data.classification.table_tasks.table_rows import RowCounts
from data.processors.set_names import BaseSet
from files.paths import StrPath

# The usual columns of the two texts, and of the number.
RANKING_COLUMNS = ("query", "passage", "relevance")
PAIR_COLUMNS = ("text", "text_b", "score")


class RankingProcessor(TableProcessor):
    """Reads tables whose rows are a query, a passage and its relevance.

    A relevance of 0 means that the passage does not answer the query.
    """

    own_metrics = ("mrr_10", "ndcg_10")

    @property
    def key_names(self) -> list[str]:
        """The column of the queries, which alone decide about the dev set."""
        return [self.text_columns[0]]

    def key_texts(self, example: InputExample) -> Sequence[str]:
        """Returns the query, so that each query is in one set."""
        return [example.text_a]

    def score(
        self,
        examples: Sequence[InputExample],
        labels: LabelArray,
        predictions: LabelArray,
    ) -> dict[str, float]:
        """Computes the metrics of `pair_scoring.score_ranking`."""
        queries = [example.text_a for example in examples]
        means = score_ranking(queries, labels, predictions)
        return dict(zip(self.metrics, means, strict=True))


class PairProcessor(TableProcessor):
    """Reads tables whose rows are two texts and, optionally, their similarity.

    The similarity is a score in the column "score", or in the column that
    --label_column names. If the table contains only the two texts, or the flag
    is empty, the two texts of each row count as similar.
    """

    def has_scores(self, set_name: BaseSet) -> bool:
        """Returns whether a set contains similarity scores."""
        return self.read(set_name)[0].label is not None

    def _may_lack_labels(self, set_name: BaseSet) -> bool:
        is_usual_column = self._options.label_column == "score"
        return is_usual_column or super()._may_lack_labels(set_name)

    def _create_examples(
        self,
        parsed_rows: Iterable[ParsedRow],
        set_name: BaseSet,
        *,
        keeps_rows: bool,
    ) -> tuple[list[InputExample], RowCounts]:
        """Returns the pairs, and counts of the other rows.

        If any pair has a score, pairs without a score are left out, unless the
        set is a test set.
        """
        pairs, counts = super()._create_examples(
            parsed_rows, set_name, keeps_rows=keeps_rows
        )
        scored = [pair for pair in pairs if pair.label is not None]
        if set_name == "test" or len(scored) in (0, len(pairs)):
            return pairs, counts
        counts.left_out["a label"] += len(pairs) - len(scored)
        return scored, counts

    def _check_set(
        self,
        path: StrPath,
        set_name: BaseSet,
        columns: Collection[str],
        examples: Sequence[InputExample],
    ) -> None:
        """Checks that no column can contain scores if the rows have none.

        The arguments are as in `TableProcessor._check_set`.

        Raises:
            ValueError: the table lacks the column "score", but other columns
                may contain scores.
        """
        is_scored = any(example.label is not None for example in examples)
        if is_scored or set_name == "test":
            return
        other_columns = {*columns} - {*self.text_columns}
        if self._options.label_column and other_columns:
            raise ValueError(
                f"{self._source}: set --label_column to the column of the "
                "scores, or to nothing if the two texts of each row are "
                f"similar. The other columns are {sorted(other_columns)}"
            )
