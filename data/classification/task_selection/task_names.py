"""Names the tasks that --task_name selects: GLUE, XNLI and users' tables."""

from typing import Final

from data.classification.glue import glue_tasks
from data.classification.table_tasks.table_task_specs import TABLE_TASK_SPECS

# The values of --task_name, in the order of the alphabet.
TASK_NAMES: Final = sorted([*glue_tasks.SPEC_OF_TASK, *TABLE_TASK_SPECS])
