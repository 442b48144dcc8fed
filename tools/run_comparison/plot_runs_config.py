"""The flags of tools/plot_runs.py."""

import dataclasses
from collections.abc import Mapping
from typing import Literal

from options.config import Config
from options.fields import PathType, option

# {value of --axis: key of the value in a line of history.jsonl}.
KEY_OF_AXIS: Mapping[str, Literal["step", "examples", "hours"]] = {
    "steps": "step",
    "examples": "examples",
    "hours": "hours",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlotRunsConfig(Config):
    """The runs to draw, and the image to write."""

    runs: str = option(
        ...,
        "Folders of the runs to draw, comma-separated. NAME=FOLDER sets the "
        "name of a run in the image.",
        path_type=PathType.RUNS,
    )
    output: str = option(
        ...,
        "Image to write, FILE.png or FILE.svg. Needs matplotlib.",
        path_type=PathType.OUTPUT_FILE,
    )
    axis: str = option(
        "steps", "Quantity on the x axis.", choices=list(KEY_OF_AXIS)
    )
    consecutive: bool = option(
        False,
        "Draw each run after the end of the previous run. Set this if the runs "
        "are successive phases of one training.",
    )
