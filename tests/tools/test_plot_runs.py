"""The image that tools.plot_runs writes."""

import json

import pytest

pytest.importorskip("matplotlib")

from options.parsed_command import ParsedCommand
from tools import plot_runs
from tools.run_comparison.plot_runs_config import PlotRunsConfig


@pytest.mark.parametrize(
    ("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")]
)
def test_the_name_of_the_image_chooses_its_format(suffix, start, tmp_path):
    line = {
        "kind": "train",
        "step": 1,
        "hours": 0.1,
        "examples": 8,
        "learning_rate": 0.1,
        "metrics": {"loss": 2.0},
    }
    (tmp_path / "history.jsonl").write_text(json.dumps(line))
    output = tmp_path / f"curves.{suffix}"
    config = PlotRunsConfig(runs=str(tmp_path), output=str(output))
    plot_runs.main(ParsedCommand(config))
    assert output.read_bytes().startswith(start)
