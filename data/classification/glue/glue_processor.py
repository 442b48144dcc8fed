"""The processors of the tasks of GLUE, and of XNLI.

glue_tasks.py lists the tasks. glue_sets.py reads their files.
"""

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.glue.glue_sets import GlueSets
from data.classification.glue.glue_tasks import (
    DEFINITION_OF_TASK,
    GlueTaskDefinition,
    define_xnli,
)
from data.sets.set_names import SetName, base_set_of, suffix_of
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout
from files.paths import StrPath

# The suffix of MultiNLI's mismatched sets, such as "dev_mm".
_MISMATCHED = "_mm"


class GlueProcessor(ClassificationProcessor):
    """Processor of a task of GLUE, which may have mismatched sets.

    Args:
        definition: the labels and the metrics of the task.
        sets: the sets of the task.
        mismatched_sets: MultiNLI's "dev_mm" and "test_mm", as the sets "dev"
            and "test". None for other tasks, which lack them.
    """

    def __init__(
        self,
        definition: GlueTaskDefinition,
        sets: GlueSets,
        mismatched_sets: GlueSets | None = None,
    ) -> None:
        super().__init__(
            sets,
            definition,
            output_mode=definition.output_mode,
            text_columns=definition.text_columns,
        )
        self._mismatched_sets = mismatched_sets
        if mismatched_sets:
            self.dev_sets = ("dev", f"dev{_MISMATCHED}")
            self.test_sets = ("test", f"test{_MISMATCHED}")

    def take(self, set_name: SetName) -> list[InputExample] | None:
        """Returns a set, None if it is a missing mismatched set."""
        sets = self._mismatched_sets
        if sets is None or suffix_of(set_name) != _MISMATCHED:
            return super().take(set_name)
        base_set = base_set_of(set_name)
        return sets.take(base_set) if sets.has_set(base_set) else None


def create_glue_processor(
    task_name: str,
    data_dir: StrPath | None,
    xnli_language: str,
    layout: TableLayout = DEFAULT_LAYOUT,
) -> GlueProcessor:
    """Creates the processor of a task of GLUE, or of XNLI."""
    if task_name == "xnli":
        xnli = define_xnli(xnli_language)
        return GlueProcessor(xnli, GlueSets(xnli, data_dir))
    definition = DEFINITION_OF_TASK[task_name]
    mismatched_sets = None
    if task_name == "mnli":
        mismatched_sets = GlueSets(
            DEFINITION_OF_TASK["mnli-mm"], data_dir, layout
        )
    return GlueProcessor(
        definition, GlueSets(definition, data_dir, layout), mismatched_sets
    )
