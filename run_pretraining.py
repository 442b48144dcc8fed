r"""Pretrains BERT on masked language modeling and next sentence prediction.

    python run_pretraining.py --input_file=pretraining.tfrecord \
        --bert_config_file=bert_config.json --output_dir=output/pretraining \
        --do_train --do_eval

Reads the TFRecords of create_pretraining_data.py. Training resumes from the
newest checkpoint in --output_dir.
"""

import functools
from typing import TYPE_CHECKING

import serving
from command_line import cli, flags
from training.pretraining_config import PretrainingConfig as Config
from training.start import Start, read_start

if TYPE_CHECKING:
    from training.trainer import Trainer


def export(start: Start[Config], trainer: "Trainer") -> None:
    """Writes --export_dir. The export accepts text if the vocabulary is set."""
    options = serving.ExportOptions.of_flags(start)
    serving.export_pretrainer(
        str(start.config.export.export_dir), trainer.model, options
    )


def main(parsed: flags.Parsed[Config]) -> None:
    """Trains, evaluates and exports the model, as the flags request."""
    start = read_start(parsed)
    # Import TensorFlow late, so that --help and wrong flags show quickly.
    from training import pretraining

    pretraining.run(start, export)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
