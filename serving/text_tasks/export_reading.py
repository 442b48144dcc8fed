"""Reads from an export all that its replies need beside the network.

`TextModel.__init__` in serving/text_model.py loads the network before, by
serving/engines/.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from data.text.tokenization import FullTokenizer
from exporting import export_checksums
from model_folders import model_json
from model_folders.head_settings import HeadSettings
from model_folders.kinds import ModelClass
from model_folders.reading.preset import Preset, read_preset
from serving.engines import Engine
from serving.text_tasks.loaded_export import AnyLoadedExport, LoadedExport
from serving.text_tasks.text_task import AnyTextTask
from serving.text_tasks.text_task_registry import (
    TEXT_TASKS_OF_CLASS,
    check_head_settings,
    create_text_tasks,
    parse_head,
)


class ExportContents(NamedTuple):
    """The settings and names that an export contains beside its network.

    Attributes:
        head_settings: settings of the head.
        columns: columns of the texts that the model was trained on, as far as
            they are known.
        loaded_export: the export as text tasks read it, None if the model
            accepts no text.
        text_task_of_name: {name: text task} of the model, the main one first.
    """

    head_settings: HeadSettings
    columns: Sequence[str | None] = ()
    loaded_export: AnyLoadedExport | None = None
    text_task_of_name: Mapping[str, AnyTextTask] = MappingProxyType({})


def read_export(folder: Path, engine: Engine) -> ExportContents:
    """Reads an export whose network is loaded, and checks that all fits.

    Args:
        folder: folder of the export.
        engine: engine that runs the network.

    Raises:
        OSError: a file cannot be read, or the network belongs to another
            export.
        ValueError: a file is malformed, or a setting is missing or does not fit
            the network. Or the model was trained with another vocabulary.
    """
    preset = _read_preset(folder)
    export_checksums.check_network_files(folder, engine.name, preset.model_json)
    head_settings: HeadSettings = {
        **preset.head_settings,
        "labels": preset.labels,
    }
    if preset.model_class not in TEXT_TASKS_OF_CLASS:
        return ExportContents(head_settings)
    model_class = ModelClass(preset.model_class)
    # Prefer what the training run recorded, because the command that exported
    # the model may not know it.
    stated = head_settings.get("num_texts")
    head_settings["num_texts"] = preset.training_settings.head.get(
        "num_texts", stated
    )
    tokenizer = read_export_tokenizer(preset)
    model_json_file = Path(preset.folder) / model_json.MODEL_JSON_FILE
    check_head_settings(model_class, head_settings, model_json_file)
    loaded_export = create_loaded_export(
        engine, tokenizer, model_class, head_settings
    )
    head_settings["max_seq_length"] = loaded_export.max_seq_length
    flags = preset.training_settings.inputs.get("flags", {})
    return ExportContents(
        head_settings=head_settings,
        columns=(flags.get("text_column"), flags.get("text_b_column")),
        loaded_export=loaded_export,
        text_task_of_name=create_text_tasks(model_class, head_settings),
    )


def _read_preset(folder: Path) -> Preset:
    """Reads the Preset of an export, with its settings.

    In the folder of a SavedModel, model.json and the vocabulary may be in the
    folder assets.extra.
    """
    extra = folder / "assets.extra"
    has_model_json = (folder / model_json.MODEL_JSON_FILE).is_file()
    if extra.is_dir() and not has_model_json:
        return read_preset(extra)
    return read_preset(folder)


def read_export_tokenizer(preset: Preset) -> FullTokenizer:
    """Reads the tokenizer of an export, and checks its vocabulary.

    Raises:
        OSError: the vocabulary cannot be read.
        ValueError: the model was trained with another vocabulary.
    """
    tokenizer = FullTokenizer(
        Path(preset.folder) / "vocab.txt", preset.do_lower_case
    )
    tokenizer.vocabulary.check_tokens()
    recorded = preset.training_settings.inputs.get("tokenizer", {})
    if recorded.get("vocab") not in (None, tokenizer.identity["vocab"]):
        raise ValueError(
            f"{tokenizer.vocab_file} is not the vocabulary that "
            "the model was trained with. Export or copy the model again"
        )
    return tokenizer


def create_loaded_export(
    engine: Engine,
    tokenizer: FullTokenizer,
    model_class: ModelClass,
    head_settings: HeadSettings,
) -> AnyLoadedExport:
    """Returns a LoadedExport whose inputs are as long as its engine accepts.

    Args:
        engine: engine that runs the network.
        tokenizer: tokenizer of the model.
        model_class: class of the model, a key of TEXT_TASKS_OF_CLASS.
        head_settings: settings of the head, which `check_head_settings` has
            checked. If the length of the engine's inputs is fixed,
            `max_seq_length` of the LoadedExport and of its head is at most this
            length.

    Raises:
        ValueError: the inputs are too short for the windows of a span labeler.
    """
    fixed = engine.inputs["input_ids"][-1]
    max_seq_length = min(filter(None, (head_settings["max_seq_length"], fixed)))
    return LoadedExport(
        engine=engine,
        tokenizer=tokenizer,
        max_seq_length=max_seq_length,
        # Google's script pads the windows of SQuAD, and padding is a candidate
        # for an answer.
        trims_padding=head_settings.get("trim_padding") is not False,
        head=parse_head(
            model_class, {**head_settings, "max_seq_length": max_seq_length}
        ),
    )
