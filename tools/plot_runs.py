"""Draws the curves of training runs as an image.

    python -m tools.plot_runs --runs=output/one,output/two --output=curves.png

Reads the history.jsonl that every training run writes to its --output_dir. The
image shows the losses of the training and the learning rate as light lines, and
the evaluations as dark lines with dots.
"""

from pathlib import Path

from command_line import cli
from files.atomic import atomic_open
from options.parsed_command import ParsedCommand
from tools.run_comparison.plot_runs_config import PlotRunsConfig
from tools.run_comparison.run_curves import create_figure, read_runs


def main(parsed: ParsedCommand[PlotRunsConfig]) -> None:
    """Draws the curves of the runs, and writes the image."""
    config = parsed.config
    drawn = create_figure(read_runs(config), config.axis)
    with atomic_open(config.output) as file:
        drawn.savefig(file, format=Path(config.output).suffix[1:], dpi=130)


command = cli.Command(main, PlotRunsConfig)

if __name__ == "__main__":
    command()
