"""A checkpoint in any format, and the report of what a model loaded of it."""

import abc
import dataclasses
import functools
import re
from collections.abc import Sequence

import keras
from absl import logging

from model_folders.bert_config import BertConfig
from model_folders.formats.shape_checks import check_shapes
from model_folders.formats.weight_entries import printable_name
from model_folders.reading.preset import Preset

# Matches the names of weights and slots that another model of this project
# ignores, and of single values, such as global_step.
_KNOWN_NAME = re.compile(
    r"(^|[./])(bert|embeddings|encoder|pooler|cls|bilstm|distillation|"
    r"classifier|output_\w+|qa_outputs|seed_\w+)[./]|^\w+$"
)


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """Report of the variables that were loaded from a checkpoint.

    Attributes:
        path: path of the checkpoint.
        loaded: names of the variables that got a value from the checkpoint.
        missing: names of the variables that the checkpoint lacks. They keep
            their values, so a new head starts with random values.
        unused: names of the checkpoint's entries that the model lacks.
        new_head: names of the head's variables, if the checkpoint contains the
            head of another task. They keep their random values too.
    """

    path: str
    loaded: list[str]
    missing: list[str]
    unused: list[str]
    new_head: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class Checkpoint(abc.ABC):
    """A checkpoint that exists. Each format has a subclass.

    Attributes:
        file: path of the file or of its index, or the prefix of the files.
        preset: what the files beside the weights state. It states nothing if
            only the path of the checkpoint was passed to `open_checkpoint`.
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
            initial_blocks: for each block of `config`, the number of the
                checkpoint's block to start from. If None, block i starts from
                the checkpoint's block i.

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
    def load(
        self,
        model: keras.Model,
        initial_blocks: Sequence[int] | None = None,
        new_head: Sequence[str] = (),
    ) -> LoadReport:
        """Assigns the values to a model.

        Args:
            model: any model of this package, built or not.
            initial_blocks: for each block of the model, the number of the
                checkpoint's block to start from. If None, block i starts from
                the checkpoint's block i.
            new_head: Google's names of the variables that keep their values,
                even if the checkpoint contains them.

        Raises:
            OSError: the checkpoint cannot be read.
            ValueError: a variable of the encoder is missing, a shape differs,
                or the model cannot use a value.
        """


def check_loaded(report: LoadReport, *, needs_head: bool = True) -> None:
    """Checks that a model which is not trained has no random weights.

    Logs a warning if the checkpoint contains weights that no model reads.

    Args:
        report: report of loading the weights.
        needs_head: whether the caller computes the outputs of the head.

    Raises:
        ValueError: the checkpoint lacks the head.
    """
    others = ", ".join(
        printable_name(name)
        for name in report.unused
        if not _KNOWN_NAME.search(name)
    )
    optional = ("bert/pooler/", "cls/seq_relationship/")
    lost = [name for name in report.missing if not name.startswith(optional)]
    if lost and needs_head:
        raise ValueError(
            f"{report.path} lacks {lost[0]}, so the outputs would be random. "
            "Train the head (--do_train), or name its weights as transformers "
            f"does for BERT. Unknown weights: {others or 'none'}"
        )
    if others:
        logging.warning(
            "%s also contains %s, which this program does not use. If the "
            "model needs these weights, its outputs will be wrong.",
            report.path,
            others,
        )
