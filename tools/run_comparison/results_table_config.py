"""The flags of tools/results_table.py."""

import dataclasses
from collections.abc import Sequence

from options.config import Config
from options.fields import PathType, option


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResultsTableConfig(Config):
    """The runs to read, and the file to write."""

    runs: str = option(
        ...,
        "Folders that contain runs, comma-separated. NAME=FOLDER sets the name "
        "of a folder in the table.",
        path_type=PathType.RUNS,
    )
    metrics: Sequence[str] | None = option(
        None,
        "Names of the results to show, comma-separated. The default is all "
        "results except losses, steps and the results for each label.",
    )
    output: str | None = option(
        None,
        "Markdown file to write the table to.",
        path_type=PathType.OUTPUT_FILE,
    )
