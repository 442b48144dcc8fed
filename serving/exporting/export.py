"""Writes exports of models of all kinds.

For example, this writes the export of a classifier of two labels:

    labels = ["no", "yes"]
    serving.export("output/model", model, {"labels": labels}, options)
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from files import atomic
from imports.installation import install_command
from model_folders import (
    kinds,
    model_json,
    new_folders,
    preset_reading,
    presets,
)
from model_folders.cards import cards, descriptions
from model_folders.config_files import CONFIG_FILE
from model_folders.formats.huggingface_config import create_config_json
from model_folders.labels import LABELS_FILE, format_labels
from model_folders.model_entries import HeadSettings, ModelJson
from model_folders.tokenizer_files import create_tokenizer_files
from modeling.base_model import FeaturesModel
from modeling.bert import BertModel
from modeling.checkpoints.tf1 import named_tensorflow_errors
from modeling.task_models import (
    BertClassifier,
    BertEmbedder,
    BertMultipleChoice,
    BertPretrainer,
    BertSpanLabeler,
    BertTokenClassifier,
)
from serving import checksums, engines, head_outputs
from serving.exporting.export_options import ExportOptions
from serving.exporting.formats import litert_writer, saved_model_writer
from serving.exporting.signatures import (
    answer_graph,
    choose_graph,
    classify_graph,
    embed_graph,
    export_head,
    pretrained_graph,
    tag_graph,
)


def export(
    folder: str | os.PathLike[str],
    model: FeaturesModel,
    settings: HeadSettings,
    options: ExportOptions,
) -> cards.Card | None:
    """Exports a model, with signatures that suit the kind of the model.

    The signature `ids` accepts ids of WordPieces. Only SavedModels contain the
    other signatures, which accept text. docs/serving.md lists them. A
    BertEmbedder is exported as its encoder. The export of a multiple-choice
    model accepts no text.

    If the only format is a SavedModel, all other files except README.md are
    written to the folder `assets.extra`.

    Args:
        folder: folder to write. It gets this name when it is complete.
        model: model to export, of a class in `modeling`.
        settings: settings of the head, with the names that model.json records
            under `task`. Names that the kind of the model does not use are
            ignored. A classifier uses `labels`, `output_mode`, `doc_stride` and
            `num_texts`, a token classifier `labels` and `legal_tags`, and a
            span labeler the fields of WindowOptions and DecodingOptions in
            data/squad.
        options: options that do not depend on the kind of the model.

    Returns:
        the values of the export's README.md, to write it again with scores.
        None if the export has no README.md, as that of a multiple-choice model.

    Raises:
        OSError: the export cannot be written. An earlier export does not
            change.
        ValueError: the folder contains files that are not an export (see
            model_folders/new_folders.py), the model has no weights yet, its
            class is not one of `modeling`, or the labels do not name its
            outputs.
        ImportError: a package of a format is not installed.
    """
    if isinstance(model, BertEmbedder):
        model = model.bert
    if not model.built:
        raise ValueError(
            f"{model.name} has no weights yet; call build() or load a "
            f"checkpoint before you export the model to {folder}"
        )
    head = _create_head(folder, model, settings, options)
    return write_export(folder, model, head, options)


def _create_head(
    folder: str | os.PathLike[str],
    model: FeaturesModel,
    settings: HeadSettings,
    options: ExportOptions,
) -> export_head.ExportHead:
    """Returns the head of a model, with signatures that suit its kind.

    The settings are those of the kind of the model. Raises a ValueError, which
    names the folder to write, if the class is not one of `modeling`.
    """
    model_class = kinds.model_class_of(model)
    match model:
        case _ if model_class not in kinds.KINDS:
            # A user's own subclass may compute something else.
            pass
        # A BertTokenClassifier is a BertClassifier too.
        case BertTokenClassifier():
            return tag_graph.create_head(model, settings, options)
        case BertClassifier():
            return classify_graph.create_head(model, settings, options)
        case BertSpanLabeler():
            return answer_graph.create_head(model, settings, options)
        case BertMultipleChoice():
            return choose_graph.create_head(model, settings, options)
        case BertPretrainer():
            return pretrained_graph.create_head(model, settings, options)
        case BertModel():
            return embed_graph.create_head(model, settings, options)
    # An embedder is exported as its encoder.
    exported = ", ".join(sorted({*kinds.KINDS} - {kinds.EMBEDDER}))
    raise ValueError(
        f"a {model_class} cannot be exported to {folder}; the classes that can "
        f"are {exported} and {kinds.EMBEDDER}"
    )


def write_export(
    export_dir: str | os.PathLike[str],
    model: FeaturesModel,
    head: export_head.ExportHead,
    options: ExportOptions,
) -> cards.Card | None:
    """Writes the export of a model whose head is given (see `export`).

    Returns:
        the card, None if the export has no settings and therefore no card.
    """
    settings = head.settings
    if head.endpoints:
        settings = settings | {"max_seq_length": options.max_seq_length}
    with new_folders.new_folder(export_dir) as folder:
        with named_tensorflow_errors(f"--export_dir={export_dir}"):
            _write_networks(folder, model, head, options)
        extra = folder
        if _is_only_saved_model(options):
            extra = folder / "assets.extra"
            extra.mkdir(exist_ok=True)
        contents = _describe_model(model, options, settings)
        for name, content in contents.items():
            atomic.write_bytes(extra / name, content)
        if not settings:
            return None
        sizes = cards.file_sizes(folder)
        if extra == folder:
            # The card lists model.json too, which is written below.
            sizes[model_json.MODEL_JSON_FILE] = 0
        description = _describe_export(folder, model, options, settings)
        text = descriptions.format_json(description)
        atomic.write_text(extra / model_json.MODEL_JSON_FILE, text)
        card = _create_card(description, sizes, head, options)
        atomic.write_text(folder / cards.CARD_FILE, card.text())
        return card


def _write_networks(
    folder: Path,
    model: FeaturesModel,
    head: export_head.ExportHead,
    options: ExportOptions,
) -> None:
    """Writes the network in each of the formats."""
    for name in options.formats:
        path = folder / engines.RUNTIMES[name].file
        path.parent.mkdir(exist_ok=True)
        _WRITER_OF_FORMAT[name](path, model, head, options)


def _is_only_saved_model(options: ExportOptions) -> bool:
    return tuple(options.formats) == ("saved_model",)


def _describe_export(
    folder: Path,
    model: FeaturesModel,
    options: ExportOptions,
    settings: HeadSettings,
) -> ModelJson:
    """Returns the contents of the model.json of an export in `folder`."""
    preset = options.weights or None
    if preset is not None and not isinstance(preset, presets.Preset):
        preset = preset_reading.read_preset(preset)
    description = descriptions.create_model_json_of_copy(
        preset, kinds.model_class_of(model), settings
    )
    description[model_json.CHECKSUMS] = checksums.checksums_of_networks(
        folder, options.formats
    )
    return description


def _create_card(
    description: ModelJson,
    files: Mapping[str, int],
    head: export_head.ExportHead,
    options: ExportOptions,
) -> cards.Card:
    """Returns the values of the export's README.md."""
    tokenizer = options.tokenizer
    # The other formats run without this project, with tokenizer.json.
    formats = [name for name in options.formats if name != "saved_model"]
    return cards.Card(
        kind=cards.EXPORT,
        description=description,
        labels=head.settings.get("labels"),
        do_lower_case=tokenizer.do_lower_case if tokenizer else None,
        files=files,
        networks={name: engines.RUNTIMES[name].file for name in formats},
        precision=options.quantize or "float32",
        fixed_length=options.fixed_length,
        output=head_outputs.name_of(head.output_kind),
    )


def _describe_model(
    model: FeaturesModel, options: ExportOptions, settings: HeadSettings
) -> dict[str, bytes]:
    """Returns {name: content} of the files that describe the model."""
    files = {"bert_config.json": model.config.to_json_string()}
    labels = settings.get("labels")
    tokenizer = options.tokenizer
    if labels:
        files[LABELS_FILE] = format_labels(labels)
    if not _is_only_saved_model(options):
        entries = _create_config_entries(model, options, settings)
        name = CONFIG_FILE
        files[name] = json.dumps(entries, indent=2) + "\n"
    contents = {name: text.encode() for name, text in files.items()}
    if tokenizer:
        # transformers cuts texts to this length, as this project does.
        lengths = (
            options.max_seq_length,
            options.fixed_length,
            model.config.max_position_embeddings,
        )
        max_seq_length = min(filter(None, lengths))
        contents |= create_tokenizer_files(tokenizer, max_seq_length)
    return contents


def _create_config_entries(
    model: FeaturesModel, options: ExportOptions, settings: HeadSettings
) -> dict[str, object]:
    """Returns the entries of the config.json that transformers reads."""
    labels = settings.get("labels")
    mode = settings.get("output_mode") or head_outputs.CLASSIFICATION
    return create_config_json(
        model.config,
        model_class=kinds.model_class_of(model),
        num_labels=model.num_labels,
        labels=labels,
        tokenizer=options.tokenizer,
        problem_type=kinds.PROBLEM_TYPE_OF_MODE[mode] if labels else None,
    )


def _write_onnx(
    path: Path,
    model: FeaturesModel,
    head: export_head.ExportHead,
    options: ExportOptions,
) -> None:
    """Writes the file model.onnx, if the package onnx is installed."""
    try:
        # Import late, because only this format needs the package onnx.
        from serving.exporting.formats import onnx_writer

        onnx_writer.write_onnx(path, model, head, options)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"The format onnx needs {error.name}: {install_command(error.name)}"
        ) from error


class _WriteNetwork(Protocol):
    """Writes the network of an export in one format."""

    def __call__(
        self,
        path: Path,
        model: FeaturesModel,
        head: export_head.ExportHead,
        options: ExportOptions,
    ) -> None:
        """Writes the file `path` of a runtime."""


# {format: function that writes its file}. Formats other than SavedModels
# contain only the signature `ids`.
_WRITER_OF_FORMAT: dict[engines.EngineName, _WriteNetwork] = {
    "saved_model": saved_model_writer.write_saved_model,
    "litert": litert_writer.write_litert,
    "onnx": _write_onnx,
}
