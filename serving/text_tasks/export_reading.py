"""Reads the folder of an export: its network, tokenizer, settings and tasks."""

import os
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from absl import logging

from data.text.tokenization import FullTokenizer
from model_folders import model_json
from model_folders.model_json_types import HeadSettings
from model_folders.reading import preset_reading, presets
from serving import engines
from serving.engines import Engine, ExportFormat, checksums
from serving.text_tasks.loaded_model import (
    LoadedModel,
    create_loaded_model,
)
from serving.text_tasks.registry import (
    TEXT_TASKS_OF_CLASS,
    check_settings,
    create_text_tasks,
)
from serving.text_tasks.text_task import AnyTextTask

# The text tasks of an export that accepts no text. The mapping is read-only,
# because all such exports share it.
_NO_TEXT_TASKS: Mapping[str, AnyTextTask] = types.MappingProxyType({})


class ExportContents(NamedTuple):
    """The contents of the folder of an export.

    Attributes:
        folder: folder of the export.
        engine: engine that runs the network.
        checksum: checksum of the files that determine the replies.
        settings: settings of the head.
        loaded_model: the model as text tasks read it, None if it accepts no
            text.
        text_tasks: {name: text task}, the main task first. {} if it accepts no
            text.
        columns: names of the columns of the texts that the model was trained
            on, as far as they are known.
    """

    folder: Path
    engine: Engine
    checksum: str
    settings: HeadSettings
    loaded_model: LoadedModel | None = None
    text_tasks: Mapping[str, AnyTextTask] = _NO_TEXT_TASKS
    columns: Sequence[str | None] = ()


def read_export(
    path: str | os.PathLike[str],
    num_threads: int | None,
    engine_name: ExportFormat | None,
) -> ExportContents:
    """Finds and reads an export.

    Args:
        path: folder of an export, or another folder that `TextModel` accepts.
        num_threads: number of threads, None for one per CPU.
        engine_name: name of the runtime, None to choose one.

    Raises:
        FileNotFoundError: the folder contains no export.
        OSError: the export is damaged, or a file of another export replaced its
            network.
        ValueError: the runtime is not installed, or a setting is missing.
    """
    folder = engines.find_export_folder(path)
    engine = engines.load_engine(folder, engine_name, num_threads)
    logging.info("%s: engine %s", path, engine.name)
    checksum = checksums.compute_export_checksum(folder, engine.name)
    description_folder = _find_description_folder(folder)
    preset = preset_reading.read_preset(description_folder)
    checksums.check_network_files(folder, engine.name, preset.model_json)
    settings = _read_settings(preset)
    contents = ExportContents(folder, engine, checksum, settings)
    if preset.model_class not in TEXT_TASKS_OF_CLASS:
        return contents
    tokenizer = read_tokenizer(description_folder, preset)
    model_json_file = description_folder / model_json.MODEL_JSON_FILE
    check_settings(preset.model_class, settings, model_json_file)
    loaded_model = create_loaded_model(engine, tokenizer, settings)
    return contents._replace(
        settings=loaded_model.settings,
        loaded_model=loaded_model,
        text_tasks=create_text_tasks(preset.model_class, loaded_model.settings),
        columns=_read_columns(preset),
    )


def read_tokenizer(folder: Path, preset: presets.Preset) -> FullTokenizer:
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


def _find_description_folder(folder: Path) -> Path:
    """Returns the folder in an export that contains model.json and so on."""
    extra = folder / "assets.extra"
    has_model_json = (folder / model_json.MODEL_JSON_FILE).is_file()
    return extra if extra.is_dir() and not has_model_json else folder


def _read_settings(preset: presets.Preset) -> HeadSettings:
    """Returns the settings of the head, from what the export states."""
    settings: HeadSettings = {**preset.head_settings, "labels": preset.labels}
    if preset.model_class in TEXT_TASKS_OF_CLASS:
        # Prefer what the training run recorded, because the command that
        # exported the model may not know it.
        stated = settings.get("num_texts")
        recorded = preset.training_settings
        settings["num_texts"] = recorded.get("num_texts", stated)
    return settings


def _read_columns(preset: presets.Preset) -> Sequence[str | None]:
    """Returns the columns of the texts that the model was trained on."""
    flags = preset.training_settings.get("flags", {})
    return flags.get("text_column"), flags.get("text_b_column")
