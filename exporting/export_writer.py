"""Writes the export of a model: a folder with its networks and what they need.

A network is written in one or several formats. Beside it are model.json, the
card, and the files of the configuration, the labels and the tokenizer. For
example, this writes the export of a classifier of two labels:

    labels = ["no", "yes"]
    exporting.export("output/model", model, {"labels": labels}, options)
"""

import json
import os
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from dependencies.installation import extra_of, install_command
from exporting import export_checksums, export_formats
from exporting.answer_signatures import create_answer_signatures
from exporting.classify_signatures import (
    create_choice_signatures,
    create_classify_signatures,
)
from exporting.embed_signatures import create_embed_signatures
from exporting.export_options import ExportOptions
from exporting.litert_writer import write_litert
from exporting.pretrained_signatures import create_pretrained_signatures
from exporting.saved_model_writer import write_saved_model
from exporting.signatures import ExportSignatures
from exporting.tag_signatures import create_tag_signatures
from files import atomic
from files.paths import explain_tensorflow_errors
from model_folders import atomic_folders, kinds, model_json
from model_folders.bert_config import BERT_CONFIG_FILE, HUGGINGFACE_CONFIG_FILE
from model_folders.cards import file_table, model_card
from model_folders.cards.copied_model_json import create_model_json_of_copy
from model_folders.formats.huggingface_config import (
    PROBLEM_TYPE_OF_MODE,
    create_config_json,
)
from model_folders.head_settings import HeadSettings, output_mode_of
from model_folders.kinds import ModelClass
from model_folders.labels import LABELS_FILE, format_labels
from model_folders.model_json import ModelJson
from model_folders.reading.preset import Preset, read_preset
from model_folders.tokenizer_files import create_tokenizer_files
from modeling.base_model import BaseModel
from modeling.task_models import BertEmbedder

_ModelT_contra = TypeVar("_ModelT_contra", bound=BaseModel, contravariant=True)
_HeadSettingsT_contra = TypeVar(
    "_HeadSettingsT_contra", bound=HeadSettings, contravariant=True
)


class CreateSignatures(Protocol[_ModelT_contra, _HeadSettingsT_contra]):
    """Creates the signatures of the exports of one class of models."""

    def __call__(
        self,
        model: _ModelT_contra,
        head_settings: _HeadSettingsT_contra,
        options: ExportOptions,
        /,
    ) -> ExportSignatures:
        """Returns the signatures of a model.

        The arguments are those of `export`.

        Raises:
            ValueError: a setting of the head is missing, or does not fit the
                model.
        """


# {class of a model: what creates the signatures of its export}. Any, because
# each function accepts only models of its class, and the settings of their
# head. A BertEmbedder is exported as its encoder. A user's own subclass has no
# entry, because it may compute something else.
CREATE_SIGNATURES_OF_CLASS: Final[
    dict[ModelClass, CreateSignatures[Any, Any]]
] = {
    ModelClass.CLASSIFIER: create_classify_signatures,
    ModelClass.ENCODER: create_embed_signatures,
    ModelClass.MULTIPLE_CHOICE: create_choice_signatures,
    ModelClass.PRETRAINER: create_pretrained_signatures,
    ModelClass.SPAN_LABELER: create_answer_signatures,
    ModelClass.TOKEN_CLASSIFIER: create_tag_signatures,
}


def is_exportable(model: BaseModel) -> bool:
    """Returns whether `export` supports models of this class."""
    # A subclass of BertEmbedder too is exported as its encoder.
    return (
        isinstance(model, BertEmbedder)
        or kinds.model_class_of(model) in CREATE_SIGNATURES_OF_CLASS
    )


def export(
    folder: str | os.PathLike[str],
    model: BaseModel,
    head_settings: HeadSettings,
    options: ExportOptions,
) -> model_card.ExportCard | None:
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
        head_settings: settings of the head, with the names that model.json
            records under `task`. Names that the kind of the model does not use
            are ignored. A classifier uses `labels`, `output_mode`,
            `doc_stride` and `num_texts`, a token classifier `labels` and
            `legal_tags`, and a span labeler the fields of WindowOptions and
            DecodingOptions in data/squad.
        options: options that do not depend on the kind of the model.

    Returns:
        the values of the export's README.md, to write it again with scores.
        None if the export has no README.md, such as the export of a
        multiple-choice model.

    Raises:
        OSError: the export cannot be written. An earlier export does not
            change.
        ValueError: the folder contains files that are not an export (see
            model_folders/atomic_folders.py), the model has no weights yet, its
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
    model_class = kinds.model_class_of(model)
    if model_class not in CREATE_SIGNATURES_OF_CLASS:
        exported = ", ".join(sorted(CREATE_SIGNATURES_OF_CLASS))
        raise ValueError(
            f"a {model_class} cannot be exported to {folder}; the classes that "
            f"can are {exported} and {ModelClass.EMBEDDER}"
        )
    create_signatures = CREATE_SIGNATURES_OF_CLASS[ModelClass(model_class)]
    signatures = create_signatures(model, head_settings, options)
    return write_export(folder, model, signatures, options)


def write_export(
    export_dir: str | os.PathLike[str],
    model: BaseModel,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> model_card.ExportCard | None:
    """Writes the files of an export, with signatures that were created.

    Args:
        export_dir: folder to write. It replaces an earlier export.
        model: model whose networks and configuration are written.
        signatures: the functions to export and the settings of the head.
        options: the formats and what else to write.

    Returns:
        the card, None if the export has no settings and therefore no card.

    Raises:
        ImportError: a package that a format needs is not installed.
        ValueError: `export_dir` contains a file that this project did not
            write, or is not a folder.
        OSError: the folder cannot be written.
    """
    head_settings = signatures.head_settings
    if signatures.text_signatures:
        head_settings = head_settings | {
            "max_seq_length": options.max_seq_length
        }
    with atomic_folders.atomic_folder(export_dir) as folder:
        with explain_tensorflow_errors(f"--export_dir={export_dir}"):
            _write_networks(folder, model, signatures, options)
        extra_folder = _create_extra_folder(folder, options)
        files = _create_model_files(model, options, head_settings)
        for name, content in files.items():
            atomic.write_bytes(extra_folder / name, content)
        card = None
        if head_settings:
            contents = _create_model_json(folder, model, options, head_settings)
            text = model_json.format_json(contents)
            atomic.write_text(extra_folder / model_json.MODEL_JSON_FILE, text)
            # The card lists the files that were written before it.
            card = _create_card(contents, folder, signatures, options)
            atomic.write_text(folder / model_card.CARD_FILE, card.text())
    return card


def _write_networks(
    folder: Path,
    model: BaseModel,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> None:
    """Writes the network in each of the formats.

    Formats other than SavedModels contain only the signature `ids`.
    """
    for name in options.formats:
        path = folder / export_formats.FILE_OF_FORMAT[name]
        path.parent.mkdir(exist_ok=True)
        if name == "saved_model":
            write_saved_model(path, model, signatures, options)
        elif name == "litert":
            write_litert(path, model, signatures, options)
        else:
            _write_onnx(path, model, signatures, options)


def _write_onnx(
    path: Path,
    model: BaseModel,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> None:
    """Writes the file model.onnx.

    Raises:
        ImportError: the package onnx or onnxruntime is not installed.
    """
    try:
        # Import late, because only this format needs the package onnx.
        # `write_onnx` imports onnxruntime, which quantized weights need.
        from exporting import onnx_writer

        onnx_writer.write_onnx(path, model, signatures, options)
    except ModuleNotFoundError as error:
        if extra_of(error.name) is None:
            # The code of this project is wrong, or its installation.
            raise
        raise ImportError(
            f"The format onnx needs {error.name}: {install_command(error.name)}"
        ) from error


def _create_extra_folder(folder: Path, options: ExportOptions) -> Path:
    """Creates the folder for the files that are no network and no card.

    These files lie beside the networks, unless the export is a SavedModel,
    whose folder has a place for them.
    """
    extra_folder = folder
    if _is_only_saved_model(options):
        extra_folder = folder / "assets.extra"
        extra_folder.mkdir(exist_ok=True)
    return extra_folder


def _is_only_saved_model(options: ExportOptions) -> bool:
    return tuple(options.formats) == ("saved_model",)


def _create_model_json(
    folder: Path,
    model: BaseModel,
    options: ExportOptions,
    head_settings: HeadSettings,
) -> ModelJson:
    """Returns the contents of the model.json of an export in `folder`."""
    preset = options.weights or None
    if preset is not None and not isinstance(preset, Preset):
        preset = read_preset(preset)
    contents = create_model_json_of_copy(
        preset, kinds.model_class_of(model), head_settings
    )
    contents[model_json.CHECKSUMS] = export_checksums.checksums_of_networks(
        folder, options.formats
    )
    return contents


def _create_card(
    contents: ModelJson,
    folder: Path,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> model_card.ExportCard:
    """Returns the values of the export's README.md."""
    tokenizer = options.tokenizer
    # The other formats run without this project, with tokenizer.json.
    formats = [name for name in options.formats if name != "saved_model"]
    return model_card.ExportCard(
        model_json=contents,
        labels=signatures.head_settings.get("labels"),
        do_lower_case=tokenizer.do_lower_case if tokenizer else None,
        files=file_table.file_sizes(folder),
        networks={
            name: export_formats.FILE_OF_FORMAT[name] for name in formats
        },
        precision=options.quantize or "float32",
        fixed_length=options.fixed_length,
        output=export_formats.output_name_of(signatures.exported_output),
    )


def _create_model_files(
    model: BaseModel, options: ExportOptions, head_settings: HeadSettings
) -> dict[str, bytes]:
    """Returns {name: content} of the files that describe the model.

    These files are the model's configuration, labels and tokenizer.
    """
    texts = {BERT_CONFIG_FILE: model.config.to_json_string()}
    if labels := head_settings.get("labels"):
        texts[LABELS_FILE] = format_labels(labels)
    if not _is_only_saved_model(options):
        entries = _create_config_entries(model, options, head_settings)
        texts[HUGGINGFACE_CONFIG_FILE] = json.dumps(entries, indent=2) + "\n"
    files = {name: text.encode() for name, text in texts.items()}
    if options.tokenizer:
        # transformers cuts texts to this length, as this project does.
        lengths = (
            options.max_seq_length,
            options.fixed_length,
            model.config.max_position_embeddings,
        )
        max_seq_length = min(filter(None, lengths))
        files |= create_tokenizer_files(options.tokenizer, max_seq_length)
    return files


def _create_config_entries(
    model: BaseModel, options: ExportOptions, head_settings: HeadSettings
) -> dict[str, object]:
    """Returns the entries of the config.json that transformers reads."""
    labels = head_settings.get("labels")
    output_mode = output_mode_of(head_settings)
    return create_config_json(
        model.config,
        model_class=kinds.model_class_of(model),
        num_labels=model.num_labels,
        labels=labels,
        tokenizer=options.tokenizer,
        problem_type=PROBLEM_TYPE_OF_MODE[output_mode] if labels else None,
    )
