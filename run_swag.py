r"""Fine-tunes BERT to choose among continuations of a sentence (SWAG).

    python run_swag.py --data_dir=swag --init_checkpoint=MODEL \
        --output_dir=output/swag --do_train --do_eval

Training resumes from the newest checkpoint in --output_dir.
"""

from command_line import cli
from options.parsed_command import ParsedCommand
from training.config.swag_config import SwagConfig
from training.preparation.starting_point_loading import load_starting_point
from training.tasks.swag import SwagTask


def main(parsed: ParsedCommand[SwagConfig]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    starting_point = load_starting_point(parsed)
    swag_task = SwagTask(
        starting_point, starting_point.config.layout_options.layout()
    )
    # Import TensorFlow late, so that --help and wrong flags show quickly.
    from training.fine_tuning.flow import fine_tune

    fine_tune(swag_task)


command = cli.Command(main, SwagConfig)

if __name__ == "__main__":
    command()
