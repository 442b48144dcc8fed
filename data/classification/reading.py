"""Names the values of --task_name, and reads the sets of their tasks.

glue.py reads GLUE and XNLI, table_task.py and pairs.py a user's own tables.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from data.classification import glue
from data.classification.features import InputExample
from data.classification.options import TableOptions
from data.classification.pairs import (
    PAIR_COLUMNS,
    RANKING_COLUMNS,
    PairProcessor,
    RankingProcessor,
)
from data.classification.processor import ClassificationProcessor
from data.classification.table_columns import options_of_pairs
from data.classification.table_task import TableProcessor
from data.io.split_names import Purpose, purpose_of, suffix_of
from data.tables.options import DataFileOptions
from data.tables.tables import Table
from files.paths import StrPath

# {task: class that reads a user's own tables}.
_TABLES: dict[str, type[TableProcessor]] = {
    "csv": TableProcessor,
    "embedding": PairProcessor,
    "ranking": RankingProcessor,
}
TASK_NAMES = sorted([*glue.PROCESSORS, *_TABLES])


class ClassificationReader:
    """Reads the labels and the splits of a classification task.

    Args:
        processors: {suffix of a split's name: its processor}. The suffix is "",
            or for the mismatched sets of MultiNLI "_mm".

    Attributes:
        output_mode: "classification", "multilabel" or "regression".
        metrics: names of the metrics that score the task, the main metric
            first.
        settings: settings to record with the weights.
    """

    def __init__(
        self, processors: Mapping[str, ClassificationProcessor]
    ) -> None:
        self._processors = processors
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

        Only the examples of a user's class tell whether they are pairs.
        """
        return len(self._processors[""].text_columns) or None

    def labels(self) -> list[str] | None:
        """Returns the names of the task's labels, or None in regression.

        The first call may read the train set, to find the labels.
        """
        return self._processors[""].labels()

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

    def take(self, split: str) -> Sequence[InputExample] | None:
        """Returns the examples of a split, None if a "_mm" set is missing.

        The processor holds the examples no longer, as `CachingReader.take`
        describes. In a test set whose labels are placeholders, the labels are
        None.
        """
        purpose = purpose_of(split)
        processor = self.processor_of(split)
        try:
            examples = processor.take(purpose)
        except FileNotFoundError:
            if split == purpose:
                raise
            return None
        if purpose == "predict" and not processor.test_set_has_labels:
            return [dataclasses.replace(x, label=None) for x in examples]
        return examples

    def processor_of(self, split: str) -> ClassificationProcessor:
        """Returns the processor of a split. "eval_mm" is the one of "_mm"."""
        return self._processors[suffix_of(split)]


def create_table_processor(
    task_name: str,
    data_dir: StrPath | None,
    data: DataFileOptions,
    options: TableOptions,
    given: frozenset[str],
    table: Table | None = None,
) -> TableProcessor | None:
    """Creates the processor of a task whose sets are a user's own tables.

    Args:
        task_name: value of --task_name.
        data_dir: value of --data_dir, None with --data_file.
        data: flags of --data_file.
        options: flags of the table.
        given: names of the flags that the user set.
        table: --data_file, if it was opened to look at its columns.

    Returns:
        the processor, None if the task is one of GLUE's or XNLI.
    """
    if task_name == "ranking":
        options = options_of_pairs(options, given, RANKING_COLUMNS)
    elif task_name == "embedding":
        options = options_of_pairs(options, given, PAIR_COLUMNS)
    elif task_name != "csv":
        return None
    return _TABLES[task_name](data_dir, data, options, table)
