"""The stages of tools/export.py, from a folder of weights to its export.

Each function takes the results of those before it. `load_model_to_export`
imports TensorFlow.
"""

from typing import TYPE_CHECKING

import modeling
from data.text.tokenization import FullTokenizer
from exporting.export_options import ExportOptions
from model_folders import kinds
from model_folders.head_settings import HeadSettings
from model_folders.kinds import ModelClass
from model_folders.reading import settings_check
from model_folders.reading.input_length import read_max_seq_length
from model_folders.reading.preset import Preset
from tools.exporting.export_config import CLASS_OF_TASK, ExportConfig

if TYPE_CHECKING:
    from modeling.base_model import BaseModel


def choose_class_to_export(config: ExportConfig, preset: Preset) -> ModelClass:
    """Returns the name of the model class to export.

    Raises:
        ValueError: neither --task nor a file names the task of the model, the
            head was trained for another task or is of a user's own class, or
            the weights are not of a BERT.
        OSError: the folder contains no weights.
    """
    name = CLASS_OF_TASK.get(config.task or "", preset.model_class)
    if name is None:
        # The weights may be of another network, or of another library.
        preset.load_config()
        modeling.check_checkpoint(preset)
        raise ValueError(
            f"no file in --model={config.model} names the task of the model; "
            f"set --task to one of {', '.join(CLASS_OF_TASK)}"
        )
    if name not in kinds.KIND_OF_CLASS:
        raise ValueError(
            f"--model={config.model} contains a {name}, which is none "
            f"of {', '.join(kinds.KIND_OF_CLASS)}; set --task=embed to export "
            "its encoder without the head"
        )
    # An embedder is exported as its encoder.
    model_class = ModelClass(name)
    if model_class == ModelClass.EMBEDDER:
        model_class = ModelClass.ENCODER
    if config.task != "embed":
        settings_check.check_model_class(preset, model_class)
    return model_class


def load_model_to_export(
    preset: Preset, model_class: ModelClass
) -> "BaseModel":
    """Loads a model of the class `model_class` from a folder.

    Raises:
        ValueError: the folder lacks weights of the model.
        OSError: a file is missing or cannot be read.
    """
    # Import late, so that --help does not wait until TensorFlow is loaded.
    from modeling.checkpoints.finding import open_checkpoint
    from modeling.checkpoints.loading import load_open_checkpoint
    from modeling.checkpoints.model_creation import create_model
    from modeling.checkpoints.variables import check_loaded
    from modeling.task_models import keras_class_of

    if model_class == ModelClass.ENCODER:
        settings_check.warn_of_pooling(preset)
    checkpoint = open_checkpoint(preset)
    model = create_model(keras_class_of(model_class), checkpoint)
    report = load_open_checkpoint(model, checkpoint)
    # A pretrained model may contain only the head for the next sentence.
    has_next_sentence = "cls/seq_relationship/output_weights" in report.loaded
    check_loaded(report, needs_head=not has_next_sentence)
    return model


def create_options(
    config: ExportConfig,
    preset: Preset,
    model: "BaseModel",
    tokenizer: FullTokenizer,
) -> ExportOptions:
    """Returns the options of the export, from the flags and the folder.

    Raises:
        ValueError: a file beside the weights that states their maximum length
            is malformed.
    """
    model_class = kinds.model_class_of(model)
    num_positions = model.config.max_position_embeddings
    return ExportOptions(
        tokenizer=tokenizer,
        max_seq_length=config.max_seq_length
        or read_max_seq_length(preset, model_class, num_positions),
        formats=config.export.export_formats,
        fixed_length=config.export.export_seq_length,
        quantize=config.export.quantize,
        weights=preset,
    )


def settings_of_head(preset: Preset, model_class: ModelClass) -> HeadSettings:
    """Returns {setting of the head: value} that the folder records."""
    head_settings: HeadSettings = {
        **preset.head_settings,
        "labels": preset.labels,
        "num_texts": preset.training_settings.head.get("num_texts"),
    }
    is_span_labeler = model_class == ModelClass.SPAN_LABELER
    if is_span_labeler and preset.trim_padding is not None:
        # This flag of the training also changes how answers are decoded.
        head_settings["trim_padding"] = preset.trim_padding
    return head_settings
