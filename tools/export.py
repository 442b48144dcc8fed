"""Exports a model that is trained: a folder of weights becomes one to serve.

    python -m tools.export --model=FOLDER --export_dir=OUT --export_format=onnx

The folder is a run's, Google's or Hugging Face's, or hf://OWNER/NAME of the
Hugging Face hub. Its files state the task, the labels and the casing. Nothing
evaluates the export: run_classifier.py and the other scripts do that, if they
export with --do_eval.
"""

from absl import logging

import exporting
from command_line import cli
from data.text.tokenization import FullTokenizer
from model_folders.reading import settings_check
from model_folders.reading.preset import read_preset
from options.parsed_command import ParsedCommand
from tools.exporting.export_config import ExportConfig
from tools.exporting.export_stages import (
    choose_class_to_export,
    create_options,
    load_model_to_export,
    settings_of_head,
)


def main(parsed: ParsedCommand[ExportConfig]) -> None:
    """Loads the model, and writes --export_dir."""
    config = parsed.config
    preset = read_preset(config.model, "--model")
    model_class = choose_class_to_export(config, preset)
    tokenizer = FullTokenizer.from_preset(preset)
    logging.info("Loading the weights of %s", preset.weights_path)
    model = load_model_to_export(preset, model_class)
    settings_check.check_trained_settings(preset, model.config, tokenizer)
    options = create_options(config, preset, model, tokenizer)
    head_settings = settings_of_head(preset, model_class)
    export_dir = str(config.export.export_dir)
    logging.info("Exporting to %s", export_dir)
    exporting.export(export_dir, model, head_settings, options)
    logging.info(
        "Wrote the export to %s. Nothing was scored: a run with --export_dir "
        "and --do_eval scores its export",
        export_dir,
    )


command = cli.Command(main, ExportConfig)

if __name__ == "__main__":
    command()
