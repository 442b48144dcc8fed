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
from command_line import cli
from training.pretraining_config import PretrainingConfig as Config
from training.resolve import read_preset, resolve

if TYPE_CHECKING:
    from training.trainer import Trainer


def export(config: Config, trainer: "Trainer") -> None:
    """Writes --export_dir. The export accepts text if the vocabulary is set."""
    options = serving.ExportOptions.of_flags(config, trainer.tokenizer)
    serving.export_pretrainer(str(config.export_dir), trainer.model, options)


def main(flags: Config) -> None:
    """Trains, evaluates and exports the model, as the flags request."""
    preset = read_preset(flags)
    config = resolve(flags, preset)
    # Import TensorFlow late, so that --help and wrong flags show quickly.
    from training import pretraining

    pretraining.run(config, preset, export)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
