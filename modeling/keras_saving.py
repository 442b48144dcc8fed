"""Base class of the models that Keras saves, quantizes and exports."""

from collections.abc import Sequence
from typing import Self, cast

import keras

from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.bert_config import BertConfig
from modeling.keras_export import (
    create_shape_options,
    create_signature,
    infer_output_spec,
)
from modeling.keras_fit import KerasFitModel
from modeling.layers import all_layers
from modeling.tensors import Outputs


class KerasSavingModel(KerasFitModel):
    """A `KerasFitModel` that Keras writes to files, and loads from them.

    The first argument of a subclass's constructor is `config`, a `BertConfig`.
    The class knows the inputs of its model, so `build` creates the weights
    without a batch, and the methods below infer nothing from a batch. A
    `.keras` file does not contain the dtype policy of inner layers. LoRA
    weights are merged into the kernels.
    """

    # The serialized configuration of `quantize`, None before it.
    _quantization: JsonObject | None = None

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
        and length. `serving.export` also exports the tokenizer.

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
