"""Holds the processor of each split of a classification task."""

import dataclasses
from collections.abc import Mapping, Sequence

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import (
    ClassificationProcessor,
)
from data.classification.table_processor import TableProcessor
from data.classification.table_uses import LossKind, TableUse
from data.processors.split_names import Purpose, purpose_of, suffix_of


class SplitProcessors:
    """The processors of a classification task, one or several.

    A task asks for splits by name. Only this class knows that some of them need
    a processor of their own.

    The main processor reads the labels, the train set, and the splits whose
    names have no suffix. MultiNLI has another one, for its mismatched sets.

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
        self._main = processors[""]
        self.output_mode = self._main.output_mode
        self.metrics = self._main.metrics
        self.settings = self._main.settings

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
        return self._main if isinstance(self._main, TableProcessor) else None

    @property
    def num_texts(self) -> int | None:
        """1 for single texts, 2 for pairs, None if only a set can tell.

        Only the examples of a user's class show whether they are pairs.
        """
        return len(self._main.text_columns) or None

    def find_labels(self) -> list[str] | None:
        """Returns the names of the task's labels, or None in regression.

        The first call may read the train set, to find the labels.
        """
        return self._main.find_labels()

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
        return self._main.read("train")

    def take(self, split_name: str) -> Sequence[InputExample] | None:
        """Returns the examples of a split, None if a "_mm" set is missing.

        The processor holds the examples no longer, as `DataProcessor.take`
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
