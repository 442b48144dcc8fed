"""Draws the curves of training runs as an HTML page or a PNG.

    python plot_runs.py --runs=output/one,output/two --html=curves.html

Reads the history.jsonl that every training run writes to its --output_dir.
"""

from collections.abc import Sequence

from absl import flags, logging

from files import paths
from files.atomic import atomic_open, write_text
from training.command_line import cli
from training.curves import image, page, series

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the flags."""
    cli.define_path(
        "runs",
        paths.Kind.RUNS,
        "Folders of runs, comma-separated; NAME=FOLDER names a run.",
    )
    flags.DEFINE_enum(
        "axis",
        "steps",
        list(series.AXES),
        "The x axis of the image, and the page's first choice.",
    )
    flags.DEFINE_list(
        "metrics",
        None,
        "Metrics to draw; by default the losses, the evaluations' metrics and "
        "the learning rate.",
    )
    flags.DEFINE_bool(
        "consecutive",
        False,
        "Let each run begin where the one before it ended, as the phases of "
        "one training do.",
    )
    flags.DEFINE_string(
        "title",
        None,
        "Heading of the page and the image; without it the page's is Curves.",
    )
    cli.define_path(
        "html",
        paths.Kind.OUTPUT_FILE,
        "Page to write, one self-contained file.",
    )
    cli.define_path(
        "png",
        paths.Kind.OUTPUT_FILE,
        "Image to write; needs matplotlib (requirements/plot.txt).",
    )


def main(_: Sequence[str]) -> None:
    """Reads the histories and draws them."""
    if FLAGS.html is None and FLAGS.png is None:
        raise ValueError("nothing to do: give --html or --png")
    runs = series.read_runs(paths.named_folders(FLAGS.runs))
    if FLAGS.consecutive:
        runs = series.join_ends(runs)
    panels = {
        axis: series.create_panels(runs, axis, FLAGS.metrics)
        for axis in series.AXES
    }
    if not panels[FLAGS.axis]:
        raise ValueError(
            f"--runs: there is nothing to draw against {FLAGS.axis} yet; "
            "train further, or evaluate"
        )
    if FLAGS.png is not None:
        drawn = image.create_png(
            runs, panels[FLAGS.axis], FLAGS.axis, FLAGS.title
        )
        with atomic_open(FLAGS.png) as file:
            file.write(drawn)
        logging.info("Wrote %s", FLAGS.png)
    if FLAGS.html is not None:
        write_text(
            FLAGS.html,
            page.create_page(
                runs,
                {axis: drawn for axis, drawn in panels.items() if drawn},
                FLAGS.axis,
                FLAGS.title or "Curves",
            ),
        )
        logging.info("Wrote %s", FLAGS.html)


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, define_flags, ("runs",))


if __name__ == "__main__":
    command()
