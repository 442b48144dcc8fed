"""Base class of this package's models, which can be saved and loaded.

Each base of a model adds one thing to `keras.Model`:

    KerasFitModel  `fit`, `evaluate` and `predict` read dicts of features
    BaseModel      a model is created from a folder of weights, and Keras saves,
                   loads, quantizes and exports it
    TaskModel      a `BertModel` gets a head
    OneHeadModel   the head is one layer

modeling/checkpoints/ loads weights into a `KerasFitModel`. `BaseModel` and the
classes below it are above modeling/checkpoints/, which imports none of them.
"""

from collections.abc import Sequence
from typing import ClassVar, Self, Unpack, cast

import keras
from absl import logging

from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.bert_config import BertConfig
from model_folders.labels import check_labels
from model_folders.reading import settings_check
from model_folders.reading.preset import read_preset
from modeling.arguments import ModelArguments
from modeling.checkpoints.finding import open_checkpoint
from modeling.checkpoints.loading import load_open_checkpoint
from modeling.checkpoints.model_creation import create_model
from modeling.keras_export import (
    create_shape_options,
    create_signature,
    infer_output_spec,
)
from modeling.keras_fit import KerasFitModel
from modeling.layers import all_layers
from modeling.tensors import Outputs


class BaseModel(KerasFitModel):
    """A `KerasFitModel` that is read from files, and written to them.

    `from_preset` reads a folder of weights. The other methods are those of
    `keras.Model` that save, load, quantize and export a model.

    The first argument of a subclass's constructor is `config`, a `BertConfig`.
    The class knows the inputs of its model, so `build` creates the weights
    without a batch, and the methods below infer nothing from a batch. A
    `.keras` file does not contain the dtype policy of inner layers. LoRA
    weights are merged into the kernels.

    Attributes:
        embeds_texts: whether vectors of texts are computed from the outputs, so
            that `from_preset` warns if sentence-transformers would compute
            other vectors.
    """

    embeds_texts: ClassVar[bool] = False
    # The serialized configuration of `quantize`, None before it.
    _quantization: JsonObject | None = None

    @classmethod
    def from_preset(
        cls,
        path: StrPath,
        *,
        config: BertConfig | None = None,
        labels: Sequence[str] | None = None,
        **arguments: Unpack[ModelArguments],
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
            **arguments: other arguments of the class, such as `num_labels`. By
                default, the folder states them.

        Raises:
            OSError: a file is missing, cannot be read or cannot be downloaded.
            ValueError: the folder contains no BERT or weights of other shapes,
                or `num_labels` is not the number of `labels`.
        """
        if labels is not None:
            num_labels = arguments.setdefault("num_labels", len(labels))
            check_labels(labels, num_labels=num_labels)
        preset = read_preset(path)
        if cls.embeds_texts:
            settings_check.warn_of_pooling(preset)
        checkpoint = open_checkpoint(preset)
        model = create_model(cls, checkpoint, config, **arguments)
        report = load_open_checkpoint(
            model,
            checkpoint,
            label_alternatives=() if labels is None else [labels],
            replaces_head=True,
        )
        if report.missing:
            logging.warning(
                "%s lacks %s, which start at random values.",
                preset.weights_path,
                ", ".join(report.missing),
            )
        return model

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """Creates the model that `get_config` described, with new weights."""
        # `get_config` wrote the dict.
        bert_config = BertConfig.from_dict(cast("JsonObject", config["config"]))
        model: Self = super().from_config({**config, "config": bert_config})
        return model

    def get_build_config(self) -> JsonObject:
        """Returns the frozen layers and the quantization, to be saved."""
        return {
            "trainable": [layer.trainable for layer in all_layers(self)],
            "quantization": self._quantization,
        }

    def build_from_config(self, config: JsonObject) -> None:
        """Creates the weights of a loaded model, frozen as they were."""
        self.build()
        if config.get("quantization"):
            deserialize = keras.saving.deserialize_keras_object
            self.quantize(config=deserialize(config["quantization"]))
        # `get_build_config` wrote the list.
        trainable = cast("list[bool]", config.get("trainable", []))
        # A layer comes before its inner layers, because setting `trainable` of
        # the layer also sets it of the inner layers.
        for layer, is_trainable in zip(
            all_layers(self), trainable, strict=False
        ):
            if layer.trainable != is_trainable:
                layer.trainable = is_trainable

    def compile_from_config(self, config: JsonObject) -> None:
        """Compiles a loaded model as it was compiled when it was saved."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        # Keras loads the optimizer's variables next.
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def quantize(
        self,
        mode: str | None = None,
        config: keras.quantizers.Int8QuantizationConfig | None = None,
        filters: None = None,
    ) -> None:
        """Stores the kernels of all `keras.layers.Dense` in 8 bits.

        Embeddings and the head's `output_weights` keep their type.

        Args:
            mode: `"int8"`.
            config: a `keras.quantizers.Int8QuantizationConfig`.
            filters: None, because files do not record other values.

        Raises:
            ValueError: the mode is not `"int8"`, or `filters` is set.
        """
        mode = config.mode if mode is None and config else mode
        if mode != "int8" or filters is not None:
            raise ValueError(
                "Models of this package take quantize('int8') for all layers. "
                f"Received: mode={mode!r}, filters={filters!r}"
            )
        super().quantize(mode, config=config, filters=_is_dense)
        self._quantization = keras.saving.serialize_keras_object(config)

    def export(
        self,
        filepath: StrPath,
        format: str = "tf_saved_model",
        verbose: bool | None = None,
        input_signature: Sequence[object] | None = None,
        **kwargs: object,
    ) -> None:
        """Exports the network, from ids to outputs, as Keras does.

        The export reads a dict of `feature_ranks`, int32, of any batch size
        and length. `exporting.export` also exports the tokenizer.

        Args:
            filepath: path of the export.
            format: format of the export, a name that Keras knows.
            verbose: whether to print messages.
            input_signature: specs of the inputs, as for `keras.Model.export`.
                By default, all features that the model reads.
            **kwargs: options of the format.

        Raises:
            ImportError: a package of the format is not installed.
            ValueError: `format` is unknown, or the backend cannot write it.
        """
        if not self.built:
            self.build()
        if input_signature is None:
            input_signature = create_signature(self.feature_ranks)
            kwargs = create_shape_options(self, format) | kwargs
        keras.Model.export(
            self.exported_model(),
            filepath,
            format=format,
            verbose=verbose,
            input_signature=input_signature,
            **kwargs,
        )

    def exported_model(self) -> keras.Model:
        """Returns the model that `export` writes."""
        return self

    def compute_output_spec(self, *args: object, **kwargs: object) -> Outputs:
        """Returns the shapes and dtypes of the outputs of symbolic inputs."""
        return infer_output_spec(super().compute_output_spec, args, kwargs)


def _is_dense(layer: keras.layers.Layer) -> bool:
    return isinstance(layer, keras.layers.Dense)
