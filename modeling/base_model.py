"""Base class of this package's models, which are created from a folder.

Each base of a model adds one thing to `keras.Model`:

    KerasFitModel     `fit`, `evaluate` and `predict` read dicts of features
    KerasSavingModel  Keras saves, quantizes and exports a model
    BaseModel         a model is created from a folder of weights
    TaskModel         a `BertModel` gets a head
    OneHeadModel      the head is one layer

modeling/checkpoints loads weights into such models, and imports their modules.
So these modules do not import modeling/checkpoints. Only `load_preset` does,
when it is called.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

from absl import logging

from files.paths import StrPath
from model_folders.bert_config import BertConfig
from model_folders.labels import check_labels
from model_folders.reading import folder_reading
from model_folders.reading.preset import Preset
from modeling.keras_saving import KerasSavingModel
from modeling.options import ModelOptions

if TYPE_CHECKING:
    from modeling.checkpoints.checkpoint import LoadReport


class BaseModel(KerasSavingModel):
    """A `KerasSavingModel` that is created from a folder of weights.

    Attributes:
        embeds_texts: whether vectors of texts are computed from the outputs, so
            that `from_preset` warns if sentence-transformers would compute
            other vectors.
    """

    embeds_texts: ClassVar[bool] = False

    @classmethod
    def from_preset(
        cls,
        path: StrPath,
        *,
        config: BertConfig | None = None,
        labels: Sequence[str] | None = None,
        **options: Unpack[ModelOptions],
    ) -> Self:
        """Creates a model with the configuration and the weights of a folder.

        If you ask for another `num_labels`, for other `labels` or for a class
        with another head than the folder's, the head starts at random values.
        The log says so.

        Args:
            path: a folder of a run, of Google's release or of a Hugging Face
                model, a checkpoint in it, or a model of the Hugging Face hub,
                hf://OWNER/NAME or hf://OWNER/NAME@REVISION.
            config: sizes and dropout rates of the network. If None, the folder
                states them.
            labels: names of the outputs, in order. If the folder names the same
                labels in another order, the head's outputs are reordered. By
                default, the folder states them.
            **options: other arguments of the class, such as `num_labels`. By
                default, the folder states them.

        Raises:
            OSError: a file is missing, cannot be read or cannot be downloaded.
            ValueError: the folder contains no BERT or weights of other shapes,
                or `num_labels` is not the number of `labels`.
        """
        if labels is not None:
            num_labels = options.setdefault("num_labels", len(labels))
            check_labels(labels, num_labels=num_labels)
        preset = folder_reading.read_preset(path)
        if cls.embeds_texts:
            preset.warn_of_pooling()
        model, report = cls.load_preset(
            preset,
            config=config,
            label_alternatives=() if labels is None else [labels],
            replaces_head=True,
            **options,
        )
        if report.missing:
            logging.warning(
                "%s lacks %s, which start at random values.",
                preset.weights_path,
                ", ".join(report.missing),
            )
        return model

    @classmethod
    def load_preset(
        cls,
        preset: Preset,
        *,
        config: BertConfig | None = None,
        label_alternatives: Sequence[Sequence[str]] = (),
        replaces_head: bool = False,
        **options: Unpack[ModelOptions],
    ) -> tuple[Self, "LoadReport"]:
        """Creates a model like `from_preset`, and also returns a LoadReport.

        `create_model` in modeling/checkpoints/loading.py documents the
        arguments, the result and the errors.
        """
        # Import late, because modeling/checkpoints imports models of this
        # package.
        from modeling.checkpoints.loading import create_model

        return create_model(
            cls,
            preset,
            config=config,
            label_alternatives=label_alternatives,
            replaces_head=replaces_head,
            **options,
        )
