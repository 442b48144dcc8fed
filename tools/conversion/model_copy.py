"""A copy of a model: the weights in memory, and the folder that they go to."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import modeling
from data.text.tokenization import FullTokenizer
from model_folders import kinds
from model_folders.cards import model_card
from model_folders.cards.copied_model_json import create_model_json_of_copy
from model_folders.formats.sentence_transformers_config import read_vector_files
from model_folders.head_settings import classifier_settings_of
from model_folders.kinds import ModelClass
from model_folders.reading.input_length import read_max_seq_length
from model_folders.reading.preset import Preset
from tools.conversion.convert_checkpoint_config import CheckpointFormat

if TYPE_CHECKING:
    from modeling.base_model import BaseModel


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelCopy:
    """A model to write in a format, with what its folder contains beside it.

    Attributes:
        preset: what the original's folder states: labels, casing and settings.
        model: the model, with the weights in memory.
        tokenizer: its vocabulary is written beside the weights.
        missing: names of the weights that the original lacks. The copy does not
            contain them.
        extends_vocab: whether the copy has WordPieces that the original lacks.
    """

    preset: Preset
    model: "BaseModel"
    tokenizer: FullTokenizer
    missing: Sequence[str] = ()
    extends_vocab: bool = False

    @property
    def model_class(self) -> ModelClass:
        """Class of the model."""
        return kinds.listed_class_of(self.model)

    @property
    def max_seq_length(self) -> int:
        """Maximum number of WordPieces in an input."""
        return read_max_seq_length(
            self.preset,
            self.model_class,
            self.model.config.max_position_embeddings,
        )

    def write(self, folder: str, output_format: CheckpointFormat) -> None:
        """Writes the folder of the copy.

        Raises:
            ValueError: the format cannot contain this model.
            OSError: the folder cannot be written.
        """
        card = self._create_card(output_format)
        files = card.create_copy_files()
        if self.model_class == ModelClass.ENCODER:
            files |= read_vector_files(Path(self.preset.folder))
        save = self._choose_save(output_format)
        save(
            self.model,
            folder,
            tokenizer=self.tokenizer,
            labels=card.labels,
            leave_out=self.missing,
            files=files,
        )

    def _create_card(self, output_format: CheckpointFormat) -> model_card.Card:
        card_class: type[model_card.Card] = model_card.WeightsCard
        if output_format == "huggingface":
            card_class = model_card.HuggingFaceCard
        has_labels = kinds.KIND_OF_CLASS[self.model_class].has_labels
        return card_class(
            model_json=create_model_json_of_copy(
                self.preset,
                self.model_class,
                {"max_seq_length": self.max_seq_length},
                extends_vocab=self.extends_vocab,
            ),
            labels=self.preset.labels if has_labels else None,
            do_lower_case=self.tokenizer.do_lower_case,
        )

    def _choose_save(self, output_format: CheckpointFormat) -> "_Save":
        """Returns the function that writes a model with this head."""
        head_settings = classifier_settings_of(self.preset.head_settings)
        if output_format == "kerashub":
            return functools.partial(
                modeling.save_kerashub,
                max_length=self.max_seq_length,
                output_mode=head_settings.get("output_mode"),
            )
        if output_format == "huggingface":
            problem_type = None
            if self.model_class == ModelClass.CLASSIFIER:
                problem_type = head_settings.get("problem_type")
            return functools.partial(
                modeling.save_huggingface,
                max_length=self.max_seq_length,
                problem_type=problem_type,
            )
        return modeling.save_release


class _Save(Protocol):
    """A function that writes a model in a format."""

    def __call__(
        self,
        model: "BaseModel",
        folder: str,
        /,
        *,
        tokenizer: FullTokenizer,
        labels: Sequence[str] | None,
        leave_out: Sequence[str],
        files: Mapping[str, str],
    ) -> None:
        """Writes the files of a model to a folder, as `save_release` does."""
