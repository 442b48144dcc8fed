"""The stages of tools/convert_checkpoint.py, from the flags to the copy.

Each public function takes the results of those before it.
"""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from absl import logging

import modeling
from data.text import tokenization, vocabulary_learning
from model_folders import kinds
from model_folders.bert_config import BertConfig
from model_folders.cards import model_card
from model_folders.cards.copied_model_json import create_model_json_of_copy
from model_folders.formats.head_names import head_classes_of
from model_folders.formats.huggingface_weights import find_huggingface
from model_folders.formats.sentence_transformers_config import read_vector_files
from model_folders.kinds import ModelClass
from model_folders.reading import settings_check
from model_folders.reading.input_length import read_max_seq_length
from model_folders.reading.preset import Preset
from tools.conversion.convert_checkpoint_config import (
    CLASS_OF_FLAG,
    FLAG_OF_CLASS,
    CheckpointFormat,
    ConvertCheckpointConfig,
)

if TYPE_CHECKING:
    from modeling.base_model import BaseModel


def choose_class_to_convert(
    config: ConvertCheckpointConfig, checkpoint: str, preset: Preset
) -> ModelClass:
    """Returns the class of the model in a checkpoint.

    --model determines it, or the folder, or the names of the weights.

    Raises:
        ValueError: the names of the weights fit several classes.
    """
    if config.model is not None:
        return CLASS_OF_FLAG[config.model]
    for model_class in FLAG_OF_CLASS:
        if model_class == preset.model_class:
            return model_class
    first, *others = head_classes_of(modeling.read_shapes(checkpoint))
    if others:
        *values, last = (FLAG_OF_CLASS[name] for name in (first, *others))
        raise ValueError(
            f"{checkpoint} does not show for which task its head was trained. "
            f"Use --model={', '.join(values)} or {last}"
        )
    return first


def choose_checkpoint_format(
    config: ConvertCheckpointConfig,
    checkpoint: str,
    preset: Preset,
    model_class: ModelClass,
) -> CheckpointFormat:
    """Returns the format to write, which can contain the checkpoint's network.

    By default, convert to the format that the checkpoint does not have. If the
    vocabulary is extended, keep the format.

    Raises:
        ValueError: transformers' BERT lacks a part of the network.
    """
    output_format = config.output_format
    if output_format is None:
        is_huggingface = bool(find_huggingface(checkpoint))
        writes_huggingface = bool(config.extended_vocab_file) == is_huggingface
        output_format = "huggingface" if writes_huggingface else "tf1"
    if output_format == "huggingface":
        _check_for_transformers(checkpoint, preset, model_class)
    return output_format


def _check_for_transformers(
    checkpoint: str, preset: Preset, model_class: ModelClass
) -> None:
    """Raises a ValueError if transformers' BERT lacks a part of the network."""
    network = {
        name for name, is_on in preset.network_arguments.items() if is_on
    }
    if model_class == ModelClass.ENCODER:
        # The LSTM is dropped, because only models with a task's head contain
        # it.
        network.discard("bilstm")
    if network:
        raise ValueError(
            f"{checkpoint} was trained with --{' --'.join(network)}, which "
            "transformers' BERT lacks. Set --output_format=tf1"
        )


def load_checkpoint_tokenizer(
    config: ConvertCheckpointConfig,
    bert_config: BertConfig,
    preset: Preset,
) -> tokenization.FullTokenizer:
    """Returns the checkpoint's tokenizer, after checking that it fits.

    Raises:
        ValueError: there is no vocabulary, or it does not fit the weights.
        OSError: a file cannot be read.
    """
    vocab_file = config.vocab_file or preset.vocab_file
    if not vocab_file:
        raise ValueError(f"no vocab.txt in {preset.folder}; set --vocab_file")
    tokenizer = tokenization.load_tokenizer(
        vocab_file,
        config.do_lower_case,
        preset,
        bert_config.vocab_size,
    )
    settings_check.check_trained_settings(preset, bert_config, tokenizer)
    return tokenizer


def extend_tokenizer(
    tokenizer: tokenization.FullTokenizer, extended_vocab_file: str
) -> tuple[tokenization.FullTokenizer, list[list[int]]]:
    """Returns the tokenizer of the extended vocabulary, and its old ids.

    The old ids are, for each token of the extended vocabulary, the ids of the
    old tokens whose embeddings are averaged.

    Raises:
        ValueError: the extended vocabulary does not extend the old one.
        OSError: the file cannot be read.
    """
    extended = tokenization.FullTokenizer(
        extended_vocab_file, tokenizer.do_lower_case
    )
    extended.vocabulary.check_tokens()
    old_ids = vocabulary_learning.list_old_ids(
        tokenizer.tokens, extended.tokens
    )
    return extended, old_ids


def load_model_to_convert(
    preset: Preset,
    bert_config: BertConfig,
    model_class: ModelClass,
) -> tuple["BaseModel", list[str]]:
    """Creates a model of a class, and loads its weights.

    Returns the model, and the names of the weights that the checkpoint lacks.

    Raises:
        ValueError: the checkpoint contains no weights of the head.
        OSError: a file cannot be read.
    """
    # Import late, so that --help does not wait until TensorFlow is loaded.
    from modeling.checkpoints.finding import open_checkpoint
    from modeling.checkpoints.loading import load_open_checkpoint
    from modeling.checkpoints.model_creation import create_model
    from modeling.task_models import keras_class_of

    checkpoint = open_checkpoint(preset)
    model = create_model(keras_class_of(model_class), checkpoint, bert_config)
    report = load_open_checkpoint(model, checkpoint)
    if model_class != ModelClass.ENCODER and all(
        weight.startswith("bert/") for weight in report.loaded
    ):
        raise ValueError(
            f"{preset.weights_path} contains no weights of "
            f"--model={FLAG_OF_CLASS[model_class]}"
        )
    if report.unused:
        logging.warning("Unused checkpoint entries: %s", report.unused)
    return model, report.missing


def write_copy(
    config: ConvertCheckpointConfig,
    preset: Preset,
    model: "BaseModel",
    tokenizer: tokenization.FullTokenizer,
    *,
    missing: Sequence[str],
    output_format: CheckpointFormat,
) -> None:
    """Writes the copy of a model to --output_dir.

    Args:
        config: names --output_dir.
        preset: what the copied folder states: labels, casing and settings.
        model: the model to write, with the weights in memory.
        tokenizer: its vocabulary is written beside the weights.
        missing: names of the weights that the checkpoint lacks. The copy does
            not contain them.
        output_format: format to write.

    Raises:
        ValueError: the format cannot contain this model.
        OSError: the folder cannot be written.
    """
    model_class = kinds.listed_class_of(model)
    max_seq_length = read_max_seq_length(
        preset, model_class, model.config.max_position_embeddings
    )
    changed: Sequence[str] = ()
    if config.extended_vocab_file:
        changed = ("bert_config", "tokenizer")
    contents = create_model_json_of_copy(
        preset,
        model_class,
        {"max_seq_length": max_seq_length},
        changed=changed,
    )
    has_labels = kinds.KIND_OF_CLASS[model_class].has_labels
    card_class: type[model_card.Card] = model_card.WeightsCard
    if output_format == "huggingface":
        card_class = model_card.HuggingFaceCard
    card = card_class(
        model_json=contents,
        labels=preset.labels if has_labels else None,
        do_lower_case=tokenizer.do_lower_case,
    )
    files = card.create_copy_files()
    if model_class == ModelClass.ENCODER:
        files |= read_vector_files(Path(preset.folder))
    save = _choose_save(preset, model_class, max_seq_length, output_format)
    save(
        model,
        config.output_dir,
        tokenizer=tokenizer,
        labels=card.labels,
        leave_out=missing,
        files=files,
    )


class _Save(Protocol):
    """A function that writes a model in a format."""

    def __call__(
        self,
        model: "BaseModel",
        folder: str,
        /,
        *,
        tokenizer: tokenization.FullTokenizer,
        labels: Sequence[str] | None,
        leave_out: Sequence[str],
        files: Mapping[str, str],
    ) -> None:
        """Writes the files of a model to a folder, as `save_release` does."""


def _choose_save(
    preset: Preset,
    model_class: ModelClass,
    max_seq_length: int,
    output_format: CheckpointFormat,
) -> _Save:
    """Returns the function that writes a model with this head in a format."""
    if output_format == "kerashub":
        return functools.partial(
            modeling.save_kerashub,
            max_length=max_seq_length,
            output_mode=preset.head_settings.get("output_mode"),
        )
    if output_format == "huggingface":
        problem_type = None
        if model_class == ModelClass.CLASSIFIER:
            problem_type = preset.head_settings.get("problem_type")
        return functools.partial(
            modeling.save_huggingface,
            max_length=max_seq_length,
            problem_type=problem_type,
        )
    return modeling.save_release
