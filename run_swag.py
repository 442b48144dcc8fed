r"""Fine-tunes BERT to choose among continuations of a sentence (SWAG).

    python run_swag.py --data_dir=swag --init_checkpoint=MODEL \
        --output_dir=output/swag --do_train --do_eval

Training resumes from the newest checkpoint in --output_dir.
"""

import dataclasses
import functools

from command_line import cli, flags
from command_line.flags import group, like
from data.tables.layout_options import LayoutOptions
from model_folders import kinds
from training.config.fine_tuning_config import FineTuningConfig
from training.config.training_config import OptimizerFlags
from training.preparation.starting_point import read_start
from training.tasks.swag import SwagTask


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(FineTuningConfig):
    """Flags of the script, which are common to all fine-tuning scripts."""

    # The learning rate of the BERT paper, for batches of 16 (section 4.4).
    optimizer: OptimizerFlags = group(
        OptimizerFlags, learning_rate=like(default=2e-5)
    )

    table: LayoutOptions = group(LayoutOptions)

    model_class = kinds.MULTIPLE_CHOICE


def main(parsed: flags.ParsedCommand[Config]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    start = read_start(parsed)
    layout = start.config.table.layout()
    # Import TensorFlow late, so that --help and wrong flags show quickly.
    from training.flows import fine_tuning

    fine_tuning.run(SwagTask(start, layout))


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
