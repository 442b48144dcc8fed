"""Converts a BERT between Google's, Hugging Face's and KerasHub's formats.

    python -m tools.convert_checkpoint --init_checkpoint=MODEL --output_dir=OUT

A folder like Google's releases (bert_model.ckpt, bert_config.json, vocab.txt)
becomes a folder that transformers reads (model.safetensors, config.json,
vocab.txt and the tokenizer's other files), or vice versa. The weights do not
change. With --output_format=kerashub it becomes a preset that KerasHub reads.
With --extended_vocab_file the tool also adds embeddings of new words.
For LiteRT, ONNX and SavedModels, see tools/export.py.
"""

from absl import logging

import modeling
from command_line import cli
from model_folders.reading import settings_check
from model_folders.reading.preset import read_preset
from options.parsed_command import ParsedCommand
from tools.conversion.conversion_stages import (
    choose_checkpoint_format,
    choose_class_to_convert,
    extend_copy,
    load_checkpoint_tokenizer,
    load_copy,
    read_vocabulary_extension,
)
from tools.conversion.convert_checkpoint_config import ConvertCheckpointConfig


def main(parsed: ParsedCommand[ConvertCheckpointConfig]) -> None:
    """Converts a checkpoint. Checks all inputs before it writes a file."""
    config = parsed.config
    preset = read_preset(config.init_checkpoint, "--init_checkpoint")
    checkpoint = modeling.find_checkpoint(preset)
    modeling.check_checkpoint(preset)
    bert_config = preset.load_required_config(config.bert_config_file)
    model_class = choose_class_to_convert(config, checkpoint, preset)
    settings_check.check_model_class(preset, model_class)
    output_format = choose_checkpoint_format(
        config, checkpoint, preset, model_class
    )
    tokenizer = load_checkpoint_tokenizer(config, bert_config, preset)
    extension = None
    if config.extended_vocab_file:
        extension = read_vocabulary_extension(
            config.extended_vocab_file, tokenizer
        )
    copy = load_copy(preset, bert_config, model_class, tokenizer)
    if extension:
        copy = extend_copy(copy, extension)
    copy.write(config.output_dir, output_format)
    logging.info("Wrote %s", config.output_dir)


command = cli.Command(main, ConvertCheckpointConfig)

if __name__ == "__main__":
    command()
