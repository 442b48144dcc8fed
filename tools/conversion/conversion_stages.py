"""The stages of tools/convert_checkpoint.py, from the flags to the copy.

Each public function takes the results of those before it.
"""

import dataclasses
from typing import NamedTuple

from absl import logging

import modeling
from data.text import vocabulary_learning
from data.text.tokenization import FullTokenizer, load_tokenizer
from model_folders.bert_config import BertConfig
from model_folders.formats.head_names import head_classes_of
from model_folders.formats.huggingface_weights import find_huggingface
from model_folders.kinds import ModelClass
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset
from tools.conversion.convert_checkpoint_config import (
    CLASS_OF_FLAG,
    FLAG_OF_CLASS,
    CheckpointFormat,
    ConvertCheckpointConfig,
)
from tools.conversion.model_copy import ModelCopy


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
) -> FullTokenizer:
    """Returns the checkpoint's tokenizer, after checking that it fits.

    Raises:
        ValueError: there is no vocabulary, or it does not fit the weights.
        OSError: a file cannot be read.
    """
    vocab_file = config.vocab_file or preset.vocab_file
    if not vocab_file:
        raise ValueError(f"no vocab.txt in {preset.folder}; set --vocab_file")
    tokenizer = load_tokenizer(
        vocab_file,
        config.do_lower_case,
        preset,
        bert_config.vocab_size,
    )
    settings_check.check_trained_settings(preset, bert_config, tokenizer)
    return tokenizer


class VocabularyExtension(NamedTuple):
    """A vocabulary with new words, and where their embeddings come from.

    Attributes:
        tokenizer: tokenizer of the extended vocabulary.
        averaged_ids: for each of its WordPieces, the ids of the old WordPieces
            whose embeddings are averaged.
    """

    tokenizer: FullTokenizer
    averaged_ids: list[list[int]]


def read_vocabulary_extension(
    extended_vocab_file: str, tokenizer: FullTokenizer
) -> VocabularyExtension:
    """Reads a vocabulary that extends that of a tokenizer.

    Raises:
        ValueError: the vocabulary of the file does not extend the old one.
        OSError: the file cannot be read.
    """
    extended = FullTokenizer(extended_vocab_file, tokenizer.do_lower_case)
    extended.vocabulary.check_tokens()
    averaged_ids = vocabulary_learning.list_old_ids(
        tokenizer.tokens, extended.tokens
    )
    return VocabularyExtension(extended, averaged_ids)


def load_copy(
    preset: Preset,
    bert_config: BertConfig,
    model_class: ModelClass,
    tokenizer: FullTokenizer,
) -> ModelCopy:
    """Creates a model of a class, and loads its weights.

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
    return ModelCopy(
        preset=preset,
        model=model,
        tokenizer=tokenizer,
        missing=report.missing,
    )


def extend_copy(copy: ModelCopy, extension: VocabularyExtension) -> ModelCopy:
    """Returns a copy of a model whose vocabulary is extended."""
    return dataclasses.replace(
        copy,
        model=modeling.extend_model(copy.model, extension.averaged_ids),
        tokenizer=extension.tokenizer,
        extends_vocab=True,
    )
