r"""Fine-tunes BERT on SQuAD v1.1 or v2.0, and predicts answers.

    python run_squad.py --train_file=train-v1.1.json \
        --predict_file=dev-v1.1.json --init_checkpoint=MODEL \
        --output_dir=output/squad --do_train --do_predict

Training resumes from the newest checkpoint in --output_dir.
"""

from command_line import cli
from options.parsed_command import ParsedCommand
from training.config.squad_config import SquadConfig
from training.preparation.starting_point_loading import load_starting_point
from training.tasks.squad_setup import load_task, open_sets


def main(parsed: ParsedCommand[SquadConfig]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    starting_point = load_starting_point(parsed)
    sets = open_sets(starting_point)
    squad_task = load_task(starting_point, sets)
    # Import TensorFlow late, so that --help, wrong flags and wrong files show
    # quickly.
    from training.fine_tuning.flow import fine_tune

    fine_tune(squad_task)


command = cli.Command(main, SquadConfig)

if __name__ == "__main__":
    command()
