"""Fine-tunes BERT to tag named entities (CoNLL-2003), and predicts tags.

    python run_ner.py --data_file=FILE --init_checkpoint=MODEL --output_dir=DIR

A line of the file is a word and its tag, or in JSON, a text with its entities.
Training resumes from the newest checkpoint in --output_dir.
"""

from command_line import cli
from options.parsed_command import ParsedCommand
from training.config.ner_config import NerConfig
from training.preparation.data_file_decisions import decide_by_rows
from training.preparation.starting_point_loading import load_starting_point
from training.tasks.ner_setup import load_task, open_sets


def main(parsed: ParsedCommand[NerConfig]) -> None:
    """Trains, evaluates, predicts and exports, as the flags request."""
    starting_point = load_starting_point(parsed)
    sets = open_sets(starting_point)
    starting_point = decide_by_rows(starting_point, sets)
    ner_task = load_task(starting_point, sets)
    # Import TensorFlow late, so that --help, wrong flags and wrong files show
    # quickly.
    from training.fine_tuning.flow import fine_tune

    fine_tune(ner_task)


command = cli.Command(main, NerConfig)

if __name__ == "__main__":
    command()
