"""The flags of tools/results_table.py."""

import dataclasses
from collections.abc import Sequence

from command_line import flags
from command_line.flags import flag
from command_line.path_flags import PathKind


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResultsTableConfig(flags.Config):
    """The runs to read, and the file to write."""

    runs: str = flag(
        ...,
        "Folders that contain runs, comma-separated. NAME=FOLDER sets the name "
        "of a folder in the table.",
        kind=PathKind.RUNS,
    )
    metrics: Sequence[str] | None = flag(
        None,
        "Names of the results to show, comma-separated. The default is all "
        "results except losses, steps and the results for each label.",
    )
    output: str | None = flag(
        None, "Markdown file to write the table to.", kind=PathKind.OUTPUT_FILE
    )
