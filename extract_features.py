r"""Writes the vectors that BERT's layers compute for the tokens of texts.

    python extract_features.py --init_checkpoint=MODEL --input_file=lines.txt \
        --output_file=vectors.jsonl

A line of the input contains one text, or two texts separated by ` ||| `.
"""

from absl import logging

from command_line import cli
from model_folders.reading import hub, settings_check
from model_folders.reading.preset import read_preset
from options.parsed_command import ParsedCommand
from training.extraction.extract_features_config import ExtractFeaturesConfig
from training.extraction.extraction_setup import parse_layers, read_model_files
from training.preparation.model_files import stated_flags_of


def main(parsed: ParsedCommand[ExtractFeaturesConfig]) -> None:
    """Writes the vectors of the lines of --input_file."""
    checkpoint = hub.to_local_folder(str(parsed.config.model.init_checkpoint))
    preset = read_preset(checkpoint, "--init_checkpoint")
    parsed = parsed.decide_if_open(stated_flags_of(preset), checkpoint)
    config = parsed.config
    bert_config, tokenizer = read_model_files(
        config, parsed.set_by_user, preset
    )
    settings_check.check_trained_settings(preset, bert_config, tokenizer)
    settings_check.warn_of_pooling(preset)
    layers = parse_layers(config.layers, bert_config.num_hidden_layers)
    # Import TensorFlow late, so that --help and wrong flags show quickly.
    from training.extraction.feature_extraction import (
        load_predictor,
        write_vectors,
    )

    predictor = load_predictor(config, bert_config, preset)
    num_lines = write_vectors(config, tokenizer, layers, predictor)
    logging.info("Wrote %d lines to %s", num_lines, config.output_file)


command = cli.Command(main, ExtractFeaturesConfig)

if __name__ == "__main__":
    command()
