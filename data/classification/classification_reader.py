"""Names the values of --task_name, and reads the sets of their tasks.

glue.py reads GLUE and XNLI. table_processor.py and pair_processors.py read a
user's own tables.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from data.classification import glue
from data.classification.classification_examples import InputExample
from data.classification.classification_options import TableOptions
from data.classification.pair_processors import (
    PAIR_COLUMNS,
    RANKING_COLUMNS,
    PairProcessor,
    RankingProcessor,
)
from data.classification.processor import ClassificationProcessor
from data.classification.table_columns import (
    find_label_columns,
    layout_of,
    options_of_pairs,
)
from data.classification.table_processor import TableProcessor
from data.sets.split_names import Purpose, purpose_of, suffix_of
from data.tables.data_file_options import DataFileOptions
from data.tables.tables import Table
from files.paths import StrPath

LossKind: TypeAlias = Literal["labels", "ranking", "similarity"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TableUse:
    """A use of a user's own tables, which a value of --task_name selects.

    Attributes:
        processor_class: class that reads the tables.
        pair_columns: usual columns of the two texts and of the number. Without
            them, flags or the names in --data_file show the columns.
        loss_kind: what the loss compares: a text's output with its label, the
            outputs of a query's passages, or the vectors of two texts.
        may_be_cross_encoder: whether a regression of single texts may be
            exported for pairs too. A cross-encoder, which ranks passages, has a
            single output as well.
    """

    processor_class: type[TableProcessor]
    pair_columns: tuple[str, str, str] | None = None
    loss_kind: LossKind = "labels"
    may_be_cross_encoder: bool = False

    def create_processor(
        self,
        data_dir: StrPath | None,
        data: DataFileOptions,
        options: TableOptions,
        set_by_user: frozenset[str],
        table: Table | None = None,
    ) -> TableProcessor:
        """Creates the processor of the sets, none of which it has read yet.

        Args:
            data_dir: value of --data_dir, None with --data_file.
            data: flags of --data_file.
            options: flags of the table.
            set_by_user: names of the flags that the user set.
            table: --data_file, if it was opened to look at its columns.

        Raises:
            ValueError: a flag is wrong, or the table whose columns show what
                --label_column means is malformed.
            OSError: that table cannot be read.
        """
        if self.pair_columns:
            options = options_of_pairs(options, set_by_user, self.pair_columns)
        if table is None and data.data_file:
            table = Table(data.data_file, layout_of(options))
        label_columns = find_label_columns(options, data_dir, table)
        return self.processor_class(
            data_dir, data, options, label_columns, table
        )


# {value of --task_name: use of a user's own tables}. The other values name the
# tasks of GLUE and XNLI.
TABLE_USES = {
    "csv": TableUse(processor_class=TableProcessor, may_be_cross_encoder=True),
    "embedding": TableUse(
        processor_class=PairProcessor,
        pair_columns=PAIR_COLUMNS,
        loss_kind="similarity",
    ),
    "ranking": TableUse(
        processor_class=RankingProcessor,
        pair_columns=RANKING_COLUMNS,
        loss_kind="ranking",
    ),
}
TASK_NAMES = sorted([*glue.PROCESSORS, *TABLE_USES])


class ClassificationReader:
    """Reads the labels and the splits of a classification task.

    Args:
        processors: {suffix of a split's name: its processor}. The suffix is "",
            or for the mismatched sets of MultiNLI "_mm".
        table_use: the use of tables whose rules apply, None for GLUE and
            XNLI. Sets of a class of --processor follow those of tables.

    Attributes:
        loss_kind: see TableUse.
        may_be_cross_encoder: see TableUse.
        output_mode: "classification", "multilabel" or "regression".
        metrics: names of the metrics that score the task, the main metric
            first.
        settings: settings to record with the weights.
    """

    def __init__(
        self,
        processors: Mapping[str, ClassificationProcessor],
        table_use: TableUse | None = None,
    ) -> None:
        self._processors = processors
        self.loss_kind: LossKind = "labels"
        self.may_be_cross_encoder = False
        if table_use:
            self.loss_kind = table_use.loss_kind
            self.may_be_cross_encoder = table_use.may_be_cross_encoder
        main = processors[""]
        self.output_mode = main.output_mode
        self.metrics = main.metrics
        self.settings = main.settings

    @property
    def splits(self) -> dict[Purpose, list[str]]:
        """{purpose: names of its splits}."""
        return {
            "train": ["train"],
            "eval": [f"eval{suffix}" for suffix in self._processors],
            "predict": [f"predict{suffix}" for suffix in self._processors],
        }

    @property
    def table_processor(self) -> TableProcessor | None:
        """The processor of a user's own tables, None for other tasks."""
        main = self._processors[""]
        return main if isinstance(main, TableProcessor) else None

    @property
    def num_texts(self) -> int | None:
        """1 for single texts, 2 for pairs, None if only a set can tell.

        Only the examples of a user's class show whether they are pairs.
        """
        return len(self._processors[""].text_columns) or None

    def find_labels(self) -> list[str] | None:
        """Returns the names of the task's labels, or None in regression.

        The first call may read the train set, to find the labels.
        """
        return self._processors[""].find_labels()

    def read_num_texts(self) -> int:
        """Returns 2 if the train set contains pairs, else 1.

        Raises:
            ValueError: the train set is malformed.
            OSError: the train set cannot be read.
        """
        is_pair = any(example.text_b for example in self.read_train_set())
        return 2 if is_pair else 1

    def read_train_set(self) -> Sequence[InputExample]:
        """Returns the train set, which the processor holds until `take`."""
        return self._processors[""].read("train")

    def take(self, split_name: str) -> Sequence[InputExample] | None:
        """Returns the examples of a split, None if a "_mm" set is missing.

        The processor holds the examples no longer, as `CachingReader.take`
        describes. In a test set whose labels are placeholders, the labels are
        None.
        """
        purpose = purpose_of(split_name)
        processor = self.processor_of(split_name)
        try:
            examples = processor.take(purpose)
        except FileNotFoundError:
            if split_name == purpose:
                raise
            return None
        if purpose == "predict" and not processor.test_set_has_labels:
            return [
                dataclasses.replace(example, label=None) for example in examples
            ]
        return examples

    def processor_of(self, split_name: str) -> ClassificationProcessor:
        """Returns the processor of a split. "eval_mm" is the one of "_mm"."""
        return self._processors[suffix_of(split_name)]
