"""Loads a checkpoint into a model: `Checkpoint`, the base class of all formats.

`ConvertedCheckpoint` loads the formats in `CONVERTED_FORMATS`. Their readers in
model_folders/formats/ convert the names of weights to Google's, run no code of
a file, and read a value only when a caller needs the value.
"""

import abc
import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import keras
from absl import logging

from files.paths import StrPath
from model_folders.bert_config import BertConfig
from model_folders.formats.kerashub_weights import (
    find_kerashub_weights,
    open_kerashub_entries,
)
from model_folders.formats.object_based_folders import (
    find_object_weights,
    open_object_entries,
)
from model_folders.formats.shape_checks import check_shapes
from model_folders.formats.tf_h5 import (
    find_tf_h5_weights,
    open_tf_h5_entries,
)
from model_folders.formats.weight_entries import (
    NEXT_SENTENCE_POOLER,
    POOLER,
    WeightEntry,
    source_name,
)
from model_folders.reading.preset import Preset
from modeling.checkpoints.variables import (
    LoadReport,
    StoredEntry,
    google_name_of,
    restore_variables,
)
from modeling.keras_fit import KerasFitModel

# Matches Google's names.
_GOOGLE_NAME = re.compile(r"bert/|cls/|output_")
_NEXT_SENTENCE = "cls/seq_relationship/output_weights"


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
        """Returns {name in the file: shape} of all entries.

        Raises:
            OSError: the checkpoint cannot be read.
        """

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
            source_name(google_name_of(weight), initial_blocks)
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


@dataclasses.dataclass(frozen=True)
class ConvertedFormat:
    """A format of weights, and the functions that find and open its files.

    Attributes:
        name: name of the format, as in the table of `model_folders.formats`.
        find: returns the path of the weights that a path names or contains, or
            None if there are none of this format.
        open_entries: returns {Google's name: WeightEntry} of the file that
            `find` returned, without reading the values. The shapes are those of
            the model's variables. Entries that Google's BERT lacks keep their
            names in the file. Raises an OSError if the file cannot be read, and
            a ValueError if it contains no weights of a BERT.
    """

    name: str
    find: Callable[[StrPath], str | None]
    open_entries: Callable[[str], Mapping[str, WeightEntry]]


# In the order in which a folder is searched.
CONVERTED_FORMATS: Sequence[ConvertedFormat] = (
    ConvertedFormat("kerashub", find_kerashub_weights, open_kerashub_entries),
    ConvertedFormat("tf_h5", find_tf_h5_weights, open_tf_h5_entries),
    ConvertedFormat("object_based", find_object_weights, open_object_entries),
)


@dataclasses.dataclass(frozen=True)
class ConvertedCheckpoint(Checkpoint):
    """A checkpoint whose reader converts the names of its weights to Google's.

    Attributes:
        format: format of the file, which contains the functions of the reader.
    """

    format: ConvertedFormat

    def read_shapes(self) -> dict[str, Sequence[int]]:
        """Returns {Google's name: shape of the model's variable}.

        Entries that Google's BERT lacks keep their names in the file.
        """
        entries = self.format.open_entries(self.file)
        return {name: entry.shape for name, entry in entries.items()}

    @contextlib.contextmanager
    def open_entries(
        self, model: keras.Model, names: Collection[str]
    ) -> Iterator[Mapping[str, StoredEntry]]:
        """Opens {Google's name: entry} with the pooler that the model needs.

        When the model has been loaded, warns of a head that Google's BERT
        lacks.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file contains no weights of a BERT, or of another
                number of attention heads than the model.
        """
        opened = self.format.open_entries(self.file)
        entries = _with_one_pooler(self.file, opened, names)
        _check_heads(model, self.file, entries)
        yield entries
        unread = [name for name in entries if not _GOOGLE_NAME.match(name)]
        if unread:
            logging.warning(
                "%s also contains a head that is not read: %s",
                self.file,
                ", ".join(unread),
            )


def _with_one_pooler(
    path: str, entries: Mapping[str, WeightEntry], names: Collection[str]
) -> dict[str, WeightEntry]:
    """Returns the entries with the pooler that a model of these names needs.

    A model that predicts next sentences needs the pooler of that head. A model
    that computes vectors needs the encoder's pooler. Logs which of two poolers
    it takes.
    """
    start = f"{NEXT_SENTENCE_POOLER}/"
    pooler_of_head = {name for name in entries if name.startswith(start)}
    others = {
        name: entries[name] for name in entries if name not in pooler_of_head
    }
    if not pooler_of_head or f"{POOLER}/kernel" not in names:
        return others
    has_head = _NEXT_SENTENCE in names and _NEXT_SENTENCE in entries
    if has_head or f"{POOLER}/kernel" not in entries:
        loaded = "the pooler of the head for next sentences"
        pooler = {
            f"{POOLER}/{name.removeprefix(start)}": entries[name]
            for name in pooler_of_head
        }
    else:
        loaded = "the encoder's pooler"
        pooler = {}
    logging.info("%s contains two poolers; loaded %s", path, loaded)
    return {**others, **pooler}


def _check_heads(
    model: keras.Model, path: str, entries: Mapping[str, WeightEntry]
) -> None:
    """Raises a ValueError if a file shows another number of attention heads.

    With another number of heads, kernels of the same size mean something else.
    """
    # A plain `keras.Model` has no configuration.
    if not isinstance(model, KerasFitModel):
        return
    num_heads = model.config.num_attention_heads
    for name, entry in entries.items():
        if entry.num_heads not in (None, num_heads):
            raise ValueError(
                f"{name} has {entry.num_heads} attention heads in {path}, but "
                f"num_attention_heads is {num_heads}. Correct the configuration"
            )
