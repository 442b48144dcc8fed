"""Writes the copy of a model that tools/convert_checkpoint.py makes."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import modeling
from conversion.convert_checkpoint_config import (
    CheckpointFormat,
    ConvertCheckpointConfig,
)
from data.text import tokenization
from model_folders import kinds
from model_folders.cards import copies, model_card
from model_folders.formats.huggingface.sentence_transformers import (
    read_vector_files,
)
from model_folders.reading import presets

if TYPE_CHECKING:
    from modeling.base_model import BaseModel


def write_copy(
    config: ConvertCheckpointConfig,
    preset: presets.Preset,
    model: "BaseModel",
    tokenizer: tokenization.FullTokenizer,
    *,
    missing: Sequence[str],
    output_format: CheckpointFormat,
) -> None:
    """Writes the copy of a model to --output_dir.

    Args:
        config: flags of the tool.
        preset: Preset of the weights.
        model: the model with these weights.
        tokenizer: tokenizer of the model.
        missing: names of the weights that the checkpoint lacks. The copy does
            not contain them.
        output_format: format to write.

    Raises:
        ValueError: the format cannot contain this model.
        OSError: the folder cannot be written.
    """
    model_class = kinds.listed_class_of(model)
    max_seq_length = preset.read_max_seq_length(
        model_class, model.config.max_position_embeddings
    )
    changed: Sequence[str] = ()
    if config.extended_vocab_file:
        changed = ("bert_config", "tokenizer")
    contents = copies.create_model_json_of_copy(
        preset,
        model_class,
        {"max_seq_length": max_seq_length},
        changed=changed,
    )
    has_labels = kinds.KIND_OF_CLASS[model_class].has_labels
    is_for_hub = output_format == "huggingface"
    card = model_card.Card(
        kind=model_card.HUGGINGFACE if is_for_hub else model_card.WEIGHTS,
        model_json=contents,
        labels=preset.labels if has_labels else None,
        do_lower_case=tokenizer.do_lower_case,
    )
    files = copies.create_copy_files(card)
    if model_class == kinds.ENCODER:
        files |= read_vector_files(Path(preset.path))
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
    preset: presets.Preset,
    model_class: kinds.ModelClass,
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
        if model_class == kinds.CLASSIFIER:
            problem_type = preset.head_settings.get("problem_type")
        return functools.partial(
            modeling.save_huggingface,
            max_length=max_seq_length,
            problem_type=problem_type,
        )
    return modeling.save_release
