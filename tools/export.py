"""Exports a model that is trained: a folder of weights becomes one to serve.

    python -m tools.export --model=FOLDER --export_dir=OUT --export_format=onnx

The folder is a run's, Google's or Hugging Face's, or hf://OWNER/NAME of the
Hugging Face hub. Its files state the task, the labels and the casing. Nothing
evaluates the export: run_classifier.py and the other scripts do that, if they
export with --do_eval.
"""

import dataclasses
import functools
from typing import TYPE_CHECKING, Self

from absl import logging

import modeling
import serving
from command_line import cli, flags
from command_line.flags import flag, group, like
from command_line.path_flags import PathKind
from data.text.tokenization import FullTokenizer
from model_folders import kinds
from model_folders.model_json_types import HeadSettings
from model_folders.reading import preset_reading, presets, settings_check
from model_folders.reading.input_length import read_max_seq_length
from serving.exporting.export_flags import ExportFlags

if TYPE_CHECKING:
    from modeling.base_model import BaseModel

# {value of --task: model class to export for it}.
_CLASS_OF_TASK: dict[str, kinds.ModelClass] = {
    "embed": kinds.ENCODER,
    "fill-mask": kinds.PRETRAINER,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """Flags of the tool: the model, and the export to write."""

    export: ExportFlags = group(ExportFlags, export_dir=like(default=...))
    model: str = flag(
        ...,
        "Folder of a model's weights, such as the --output_dir of a run, or "
        "hf://OWNER/NAME[@REVISION] of the Hugging Face hub.",
        kind=PathKind.MODEL,
    )
    task: str | None = flag(
        None,
        "embed exports the encoder of any model. fill-mask exports the heads "
        "of pretraining of a folder that does not name its task, such as one "
        "of Google's. By default, the folder names the task.",
        choices=list(_CLASS_OF_TASK),
    )
    max_seq_length: int | None = flag(
        None,
        "Maximum number of WordPieces in an input. By default, the length that "
        "the folder records, else as many as the model has positions.",
        at_least=3,
    )

    def prepare(self, set_by_user: frozenset[str]) -> Self:
        """Checks the flags of the export, and returns all flags."""
        self.export.check()
        return self


def find_model_class(config: Config, preset: presets.Preset) -> str:
    """Returns the name of the model class to export.

    Raises:
        ValueError: neither --task nor a file names the task of the model, the
            head was trained for another task or is of a user's own class, or
            the weights are not of a BERT.
        OSError: the folder contains no weights.
    """
    model_class = _CLASS_OF_TASK.get(config.task or "", preset.model_class)
    if model_class is None:
        # The weights may be of another network, or of another library.
        preset.load_config()
        modeling.find_checkpoint(preset)
        raise ValueError(
            f"no file in --model={config.model} names the task of the model; "
            f"set --task to one of {', '.join(_CLASS_OF_TASK)}"
        )
    if model_class not in kinds.KIND_OF_CLASS:
        raise ValueError(
            f"--model={config.model} contains a {model_class}, which is none "
            f"of {', '.join(kinds.KIND_OF_CLASS)}; set --task=embed to export "
            "its encoder without the head"
        )
    if model_class == kinds.EMBEDDER:
        model_class = kinds.ENCODER
    if config.task != "embed":
        preset.check_model_class(model_class)
    return model_class


def load_model(preset: presets.Preset, model_class: str) -> "BaseModel":
    """Loads a model of the class `model_class` from a folder.

    Raises:
        ValueError: the folder lacks weights of the model.
        OSError: a file is missing or cannot be read.
    """
    # Import late, so that --help does not wait until TensorFlow is loaded.
    from modeling.checkpoints.load_check import check_loaded

    if model_class == kinds.ENCODER:
        preset.warn_of_pooling()
    chosen_class: type[BaseModel] = getattr(modeling, model_class)
    model, report = chosen_class.load_preset(preset)
    # A pretrained model may contain only the head for the next sentence.
    has_next_sentence = "cls/seq_relationship/output_weights" in report.loaded
    check_loaded(report, needs_head=not has_next_sentence)
    return model


def create_options(
    config: Config,
    preset: presets.Preset,
    model: "BaseModel",
    tokenizer: FullTokenizer,
) -> "serving.ExportOptions":
    """Returns the options of the export, from the flags and the folder.

    Raises:
        ValueError: a file beside the weights that states their maximum length
            is malformed.
    """
    model_class = kinds.model_class_of(model)
    num_positions = model.config.max_position_embeddings
    return serving.ExportOptions(
        tokenizer=tokenizer,
        max_seq_length=config.max_seq_length
        or read_max_seq_length(preset, model_class, num_positions),
        formats=config.export.export_formats,
        fixed_length=config.export.export_seq_length,
        quantize=config.export.quantize,
        weights=preset,
    )


def settings_of_head(preset: presets.Preset, model_class: str) -> HeadSettings:
    """Returns {setting of the head: value} that the folder records."""
    settings: HeadSettings = {
        **preset.head_settings,
        "labels": preset.labels,
        "num_texts": preset.recorded_settings.get("num_texts"),
    }
    trim_padding = preset.decision_flags()["trim_padding"]
    if model_class == kinds.SPAN_LABELER and trim_padding is not None:
        # This flag of the training also changes how answers are decoded.
        settings["trim_padding"] = trim_padding
    return settings


def main(parsed: flags.ParsedCommand[Config]) -> None:
    """Loads the model, and writes --export_dir."""
    config = parsed.config
    preset = preset_reading.read_preset(config.model, "--model")
    model_class = find_model_class(config, preset)
    tokenizer = FullTokenizer.from_preset(preset)
    logging.info("Loading the weights of %s", preset.weights_path)
    model = load_model(preset, model_class)
    settings_check.check_trained_settings(preset, model.config, tokenizer)
    options = create_options(config, preset, model, tokenizer)
    settings = settings_of_head(preset, model_class)
    export_dir = str(config.export.export_dir)
    logging.info("Exporting to %s", export_dir)
    serving.export(export_dir, model, settings, options)
    logging.info(
        "Wrote the export to %s. Nothing was scored: a run with --export_dir "
        "and --do_eval scores its export",
        export_dir,
    )


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
