"""Loads a checkpoint into a model: the base class of all formats."""

import abc
import contextlib
import dataclasses
import functools
from collections.abc import Collection, Mapping, Sequence

import keras

from model_folders.bert_config import BertConfig
from model_folders.formats.shape_checks import check_shapes
from model_folders.formats.weight_entries import entry_name_of
from model_folders.reading.preset import Preset
from modeling.checkpoints.variables import (
    LoadReport,
    StoredEntry,
    google_name_of,
    restore_variables,
)


@dataclasses.dataclass(frozen=True)
class Checkpoint(abc.ABC):
    """A checkpoint to load into a model. Each format of files has a subclass.

    Attributes:
        file: path of the file or of its index, or the prefix of the files.
        preset: what the other files in the folder state about the weights. If
            `open_checkpoint` was called with a path, it read none of these
            files. Then the Preset contains this path, and all else is unknown:
            `labels` is None, and so is `load_config()`.
    """

    file: str
    preset: Preset

    @abc.abstractmethod
    def read_shapes(self) -> dict[str, Sequence[int]]:
        """Returns {name in the file: shape} of all entries."""

    @functools.cached_property
    def shapes(self) -> dict[str, Sequence[int]]:
        """Result of `read_shapes`, which is called only once."""
        return self.read_shapes()

    def read_google_shapes(self) -> dict[str, Sequence[int]]:
        """Returns {Google's name: shape of the model's variable}.

        Names that Google's BERT lacks are returned unchanged. By default the
        names in the file are Google's. Also checks the sizes of the files, as
        far as the format needs it.

        Raises:
            OSError: a file is missing, truncated or malformed.
        """
        return self.shapes

    def check_sizes(
        self,
        config: BertConfig | None,
        initial_blocks: Sequence[int] | None = None,
    ) -> None:
        """Checks the sizes of the files, and of the entries in them.

        Args:
            config: configuration that the entries must fit. If None, the method
                only checks that no file is damaged.
            initial_blocks: the stored block from which each block starts.

        Raises:
            OSError: a file is missing, truncated or malformed.
            ValueError: an entry is missing, or has another size than in
                `config`.
        """
        shapes = self.read_google_shapes()
        if config is not None:
            is_stated = config is self.preset.load_config()
            check_shapes(
                self.file,
                shapes,
                config,
                initial_blocks=initial_blocks,
                config_file=self.preset.config_file if is_stated else None,
            )

    @abc.abstractmethod
    def open_entries(
        self, model: keras.Model, names: Collection[str]
    ) -> contextlib.AbstractContextManager[Mapping[str, StoredEntry]]:
        """Opens {Google's name: entry} of the checkpoint for a model.

        The entries that the model does not read keep their names in the file.
        Their values can be read inside the `with` statement.

        Args:
            model: any model of this package, which is built.
            names: Google's names of the entries that the model reads.

        Raises:
            OSError: the checkpoint cannot be read.
            ValueError: the checkpoint is not of a BERT, or not for this model.
        """

    def load(
        self,
        model: keras.Model,
        initial_blocks: Sequence[int] | None = None,
        new_head: Sequence[str] = (),
    ) -> LoadReport:
        """Assigns the values to a model.

        Args:
            model: any model of this package, built or not.
            initial_blocks: the stored block from which each block starts.
            new_head: Google's names of the variables that keep their values,
                even if the checkpoint contains them.

        Raises:
            OSError: the checkpoint cannot be read.
            ValueError: a variable of the encoder is missing, a shape differs,
                or the model cannot use a value.
        """
        if not model.built:
            model.build()
        # Several blocks of the model may start from one of the checkpoint.
        names = dict.fromkeys(
            entry_name_of(google_name_of(weight), initial_blocks)
            for weight in model.weights
        )
        with self.open_entries(model, names.keys()) as entries:
            return restore_variables(
                model,
                self.file,
                entries,
                initial_blocks=initial_blocks,
                new_head=new_head,
            )
