r"""Pretrains BERT on masked language modeling and next sentence prediction.

    python run_pretraining.py --input_file=pretraining.tfrecord \
        --bert_config_file=bert_config.json --output_dir=output/pretraining \
        --do_train --do_eval

Reads the TFRecords of create_pretraining_data.py. Training resumes from the
newest checkpoint in --output_dir.
"""

from command_line import cli
from options.parsed_command import ParsedCommand
from training.config.pretraining_config import PretrainingConfig
from training.preparation.starting_point_loading import load_starting_point
from training.pretraining.record_decisions import decide_by_records


def main(parsed: ParsedCommand[PretrainingConfig]) -> None:
    """Trains, evaluates and exports the model, as the flags request."""
    starting_point = load_starting_point(decide_by_records(parsed))
    # Import TensorFlow late, so that --help and wrong flags show quickly.
    from training.pretraining.flow import pretrain

    pretrain(starting_point)


command = cli.Command(main, PretrainingConfig)

if __name__ == "__main__":
    command()
