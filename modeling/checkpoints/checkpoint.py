"""Defines the methods of checkpoints in all formats."""

import abc
import dataclasses
import functools
from collections.abc import Sequence

import keras

from modeling.checkpoints.restore import LoadReport


@dataclasses.dataclass(frozen=True)
class Checkpoint(abc.ABC):
    """A checkpoint that exists. Each format has a subclass.

    Attributes:
        file: path of the file or of its index, or the prefix of the files.
    """

    file: str

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

    @abc.abstractmethod
    def load(
        self,
        model: keras.Model,
        layers: Sequence[int] | None = None,
        new_head: Sequence[str] = (),
    ) -> LoadReport:
        """Assigns the values to a model.

        Args:
            model: any model of this package, built or not.
            layers: for each block of the model, the number of the checkpoint's
                block to start from. None = block i starts from the checkpoint's
                block i.
            new_head: as in `restore_variables`.

        Raises:
            OSError: the checkpoint cannot be read.
            ValueError: as `restore_variables` raises it, or the values cannot
                be used.
        """
