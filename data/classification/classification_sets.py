"""Reads the sets of a classification task, by name."""

import dataclasses
from collections.abc import Sequence

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import (
    ClassificationProcessor,
)
from data.classification.glue.glue_processor import GlueProcessor
from data.classification.user_tables.table_processor import UserTableProcessor
from data.classification.user_tables.user_table_tasks import (
    LossKind,
    TableTaskSpec,
)
from data.sets.set_names import SetName, base_set_of, suffix_of

# The suffix of MultiNLI's mismatched sets, such as "dev_mm".
_MISMATCHED = "_mm"


class ClassificationSets:
    """The sets of a classification task, which one or two processors read.

    A task asks for sets by name. Only this class knows that MultiNLI's
    mismatched sets, "dev_mm" and "test_mm", need a processor of their own. The
    main processor reads all other sets, and knows the labels.

    Args:
        main: processor of the sets without a suffix.
        mismatched: processor of the mismatched sets, None for other tasks than
            MultiNLI.
        table_task_spec: what --task_name says of a task of a user's own tables,
            None for GLUE and XNLI. Sets that a class of --processor reads
            follow the rules of tables.

    Attributes:
        loss_kind: see TableTaskSpec.
        may_be_cross_encoder: see TableTaskSpec.
        output_mode: "classification", "multilabel" or "regression".
        metrics: names of the metrics that score the task, the main metric
            first.
        settings: settings to record with the weights.
        dev_sets: names of the sets to evaluate.
        test_sets: names of the sets to predict.
    """

    def __init__(
        self,
        main: ClassificationProcessor,
        mismatched: GlueProcessor | None = None,
        table_task_spec: TableTaskSpec | None = None,
    ) -> None:
        self._main = main
        self._mismatched = mismatched
        self._processor_of_suffix = {"": main}
        if mismatched:
            self._processor_of_suffix[_MISMATCHED] = mismatched
        self.loss_kind: LossKind = "labels"
        self.may_be_cross_encoder = False
        if table_task_spec:
            self.loss_kind = table_task_spec.loss_kind
            self.may_be_cross_encoder = table_task_spec.may_be_cross_encoder
        self.output_mode = main.output_mode
        self.metrics = main.metrics
        self.settings = main.settings
        self.dev_sets = [f"dev{suffix}" for suffix in self._processor_of_suffix]
        self.test_sets = [
            f"test{suffix}" for suffix in self._processor_of_suffix
        ]

    @property
    def table_processor(self) -> UserTableProcessor | None:
        """The processor of a user's own tables, None for other tasks."""
        return (
            self._main if isinstance(self._main, UserTableProcessor) else None
        )

    @property
    def num_texts(self) -> int | None:
        """1 for single texts, 2 for pairs, None if only a set can tell.

        Only the examples of a user's class show whether they are pairs.
        """
        return len(self._main.text_columns) or None

    def read_labels(self) -> list[str] | None:
        """Returns the names of the task's labels, or None in regression.

        The first call may read the train set, to find the labels.
        """
        return self._main.read_labels()

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

    def take(self, set_name: SetName) -> Sequence[InputExample] | None:
        """Returns the examples of a set, None if a "_mm" set is missing.

        The processor holds the examples no longer, as `TaskSets.take`
        describes. In a test set whose labels are placeholders, the labels are
        None.
        """
        base_set = base_set_of(set_name)
        processor = self.processor_of(set_name)
        if processor is self._mismatched and not processor.has_set(base_set):
            return None
        examples = processor.take(base_set)
        if base_set == "test" and not processor.test_set_has_labels:
            return [
                dataclasses.replace(example, label=None) for example in examples
            ]
        return examples

    def processor_of(self, set_name: SetName) -> ClassificationProcessor:
        """Returns the processor of a set, by the suffix of the set's name."""
        return self._processor_of_suffix[suffix_of(set_name)]
