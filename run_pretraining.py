r"""Pretrains BERT on masked language modeling and next sentence prediction.

    python run_pretraining.py --input_file=pretraining.tfrecord \
        --bert_config_file=bert_config.json --output_dir=output/pretraining \
        --do_train --do_eval

Reads the TFRecords of create_pretraining_data.py. Training resumes from the
newest checkpoint in --output_dir.
"""

import functools

import serving
from data.text.tokenization import load_tokenizer
from training.command_line import cli
from training.pretraining_config import PretrainingConfig as Config
from training.resolve import read_preset, resolve


def main(flags: Config) -> None:
    """Trains, evaluates and exports the model, as the flags request."""
    folder = read_preset(flags)
    options = resolve(flags, folder)
    # Import late, so that --help and errors in flags do not wait until
    # TensorFlow is loaded.
    from training import checks, pretraining

    config = checks.check(options, folder)
    serving_options = tokenizer = None
    if options.vocab_file:
        tokenizer = load_tokenizer(options, config.vocab_size)
        serving_options = serving.ServingOptions(
            tokenizer, options.max_seq_length, export=options
        )
    trainer = pretraining.run(options, config, tokenizer)
    if trainer is None:
        return
    if options.export_dir:
        serving.export_pretrainer(
            options.export_dir,
            trainer.model,
            serving_options,
            export_options=options,
        )
    trainer.finish()


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
