"""Reads the folder of an export: its tokenizer and its settings.

`TextModel.__init__` in serving/text_model.py lists the steps of loading an
export. Those for its network are in serving/engines/.
"""

from collections.abc import Sequence
from pathlib import Path

from data.text.tokenization import FullTokenizer
from model_folders import model_json
from model_folders.kinds import ModelClass
from model_folders.model_json_types import HeadSettings
from model_folders.reading import folder_reading
from model_folders.reading.preset import Preset
from serving.engines import Engine
from serving.text_tasks.loaded_model import (
    LoadedModel,
    create_loaded_model,
)
from serving.text_tasks.registry import TEXT_TASKS_OF_CLASS, check_settings


def read_export_preset(folder: Path) -> Preset:
    """Reads what an export states about itself, such as its settings.

    Args:
        folder: folder of the export. In that of a SavedModel, model.json and
            the vocabulary may be in the folder assets.extra.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is malformed.
    """
    extra = folder / "assets.extra"
    has_model_json = (folder / model_json.MODEL_JSON_FILE).is_file()
    if extra.is_dir() and not has_model_json:
        return folder_reading.read_preset(extra)
    return folder_reading.read_preset(folder)


def read_settings(preset: Preset) -> HeadSettings:
    """Returns the settings of the head, from what an export states."""
    settings: HeadSettings = {**preset.head_settings, "labels": preset.labels}
    if preset.model_class in TEXT_TASKS_OF_CLASS:
        # Prefer what the training run recorded, because the command that
        # exported the model may not know it.
        stated = settings.get("num_texts")
        recorded = preset.training_settings
        settings["num_texts"] = recorded.get("num_texts", stated)
    return settings


def read_text_columns(preset: Preset) -> Sequence[str | None]:
    """Returns the columns of the texts that the model was trained on."""
    flags = preset.training_settings.get("flags", {})
    return flags.get("text_column"), flags.get("text_b_column")


def read_loaded_model(
    engine: Engine, preset: Preset, model_class: ModelClass
) -> LoadedModel:
    """Returns the model of an export that accepts text.

    Args:
        engine: engine that runs the network.
        preset: what the export states about itself.
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.

    Raises:
        OSError: the vocabulary cannot be read.
        ValueError: a setting is missing, or does not fit the network. Or the
            model was trained with another vocabulary.
    """
    folder = Path(preset.path)
    tokenizer = read_tokenizer(folder, preset)
    settings = read_settings(preset)
    check_settings(model_class, settings, folder / model_json.MODEL_JSON_FILE)
    return create_loaded_model(engine, tokenizer, model_class, settings)


def read_tokenizer(folder: Path, preset: Preset) -> FullTokenizer:
    """Reads the tokenizer of an export, and checks its vocabulary.

    Args:
        folder: folder of the vocabulary.
        preset: what the export states about itself.

    Raises:
        OSError: the vocabulary cannot be read.
        ValueError: the model was trained with another vocabulary.
    """
    tokenizer = FullTokenizer(folder / "vocab.txt", preset.do_lower_case)
    tokenizer.check_vocab()
    recorded = preset.training_settings.get("tokenizer", {})
    if recorded.get("vocab") not in (None, tokenizer.identity["vocab"]):
        raise ValueError(
            f"{tokenizer.vocab_file} is not the vocabulary that "
            "the model was trained with. Export or copy the model again"
        )
    return tokenizer
