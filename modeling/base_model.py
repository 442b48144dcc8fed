"""Base class of this package's models, which read a dict of features.

The class knows the inputs of its model, so `build` creates the weights without
a batch. It overrides the methods in which Keras would infer the inputs from a
batch. The methods follow the life of a model: it is created, trained, saved,
quantized and exported.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, cast

import keras
from absl import logging

from files.json_files import JsonObject
from files.paths import StrPath
from modeling import keras_export, metric_targets
from modeling.checkpoints.loading import create_model
from modeling.checkpoints.restore import LoadReport
from modeling.config import BertConfig
from modeling.features import check_names, check_ranges
from modeling.folders import presets
from modeling.labels import check_labels
from modeling.layers import all_layers
from modeling.task_loss import Loss
from modeling.tensors import Features, Outputs, Tensor


class FeaturesModel(keras.Model):
    """A model that reads features named as in Google's code.

    The first argument of a subclass's constructor is `config`, a `BertConfig`.
    A `.keras` file does not contain the dtype policy of inner layers. LoRA
    weights are merged into the kernels.

    Attributes:
        feature_ranks: {name: rank} of the features that the model reads, all
            int32. Exported models have these inputs, and prediction passes only
            these features to the model.
        embeds_texts: whether vectors of texts are computed from the outputs, so
            that `from_preset` warns if sentence-transformers would compute
            other vectors.
    """

    feature_ranks: ClassVar[dict[str, int]] = {
        "input_ids": 2,
        "input_mask": 2,
        "segment_ids": 2,
    }
    embeds_texts: ClassVar[bool] = False

    # The serialized configuration of `quantize`, None before it.
    _quantization: JsonObject | None = None

    @classmethod
    def from_preset(
        cls,
        path: StrPath,
        *,
        labels: Sequence[str] | None = None,
        **options: Any,
    ) -> Self:
        """Creates a model with the configuration and the weights of a folder.

        If you ask for another `num_labels`, for other `labels` or for a class
        with another head than the folder's, the head starts at random values.
        The log says so.

        Args:
            path: a folder of a run, of Google's release or of a Hugging Face
                model, a checkpoint in it, or a model of the Hugging Face hub,
                hf://OWNER/NAME or hf://OWNER/NAME@REVISION.
            labels: names of the outputs, in order. If the folder names the same
                labels in another order, the head's outputs are reordered. By
                default, as in the folder.
            **options: arguments of the class, such as `config` or `num_labels`.
                By default, as in the folder.

        Raises:
            OSError: a file is missing, cannot be read or cannot be downloaded.
            ValueError: the folder contains no BERT, or weights of other shapes.
                Or `num_labels` is not the number of `labels`.
        """
        if labels is not None:
            number = options.setdefault("num_labels", len(labels))
            check_labels(labels, num_labels=number)
        preset = presets.read_preset(path)
        if cls.embeds_texts:
            preset.warn_of_pooling()
        model, report = cls.load_preset(
            preset,
            labels=() if labels is None else [labels],
            replaces_head=True,
            **options,
        )
        if report.missing:
            logging.warning(
                "%s lacks %s, which start at random values.",
                preset.weights,
                ", ".join(report.missing),
            )
        return model

    @classmethod
    def load_preset(
        cls,
        preset: presets.Preset,
        *,
        labels: Sequence[Sequence[str]] = (),
        replaces_head: bool = False,
        **options: Any,
    ) -> tuple[Self, LoadReport]:
        """Creates a model like `from_preset`. Returns it, and a LoadReport.

        See `load_checkpoint` for `labels` and `replaces_head`.
        """
        return create_model(
            cls, preset, labels=labels, replaces_head=replaces_head, **options
        )

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """Creates the model that `get_config` described, with new weights."""
        model: Self = super().from_config(
            {**config, "config": BertConfig.from_dict(config["config"])}
        )
        return model

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Outputs:
        """Returns the shapes and dtypes of the outputs of symbolic inputs.

        Infers them for two sizes of the axes whose size is unknown. Keras would
        try sizes above the number of positions on torch, and none on JAX.
        """

        def fill(tensor: object, size: int) -> object:
            if not isinstance(tensor, keras.KerasTensor):
                return tensor
            shape = [size if axis is None else axis for axis in tensor.shape]
            return keras.KerasTensor(shape, tensor.dtype)

        def merge(
            first: keras.KerasTensor, second: keras.KerasTensor
        ) -> keras.KerasTensor:
            shape = [
                axis if axis == other_axis else None
                for axis, other_axis in zip(
                    first.shape, second.shape, strict=True
                )
            ]
            return keras.KerasTensor(shape, first.dtype)

        infer = super().compute_output_spec
        specs = []
        for size in (2, 3):
            filled = functools.partial(fill, size=size)
            positional, named = keras.tree.map_structure(filled, (args, kwargs))
            specs.append(infer(*positional, **named))
        return keras.tree.map_structure(merge, *specs)

    def check_features(self, features: Mapping[str, object]) -> None:
        """Checks the names of features.

        A model would silently ignore a mask with another name.

        Raises:
            ValueError: a name is unknown or missing, or there is no dict.
        """
        check_names(features, type(self).__name__, self.feature_ranks)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Configures training as Keras does, and creates the weights.

        A graph compiled by XLA cannot create weights.
        """
        if not self.built:
            self.build()
        super().compile(*args, **kwargs)

    # Keras passes the batch to a step as the last argument.
    def train_step(self, *arguments: Any) -> dict[str, Tensor]:
        """Checks the features of a batch, and runs a step of `fit`."""
        self._check_batch(arguments[-1])
        metrics: dict[str, Tensor] = super().train_step(*arguments)
        return metrics

    def test_step(self, *arguments: Any) -> dict[str, Tensor]:
        """Checks the features of a batch, and runs a step of `evaluate`."""
        self._check_batch(arguments[-1])
        metrics: dict[str, Tensor] = super().test_step(*arguments)
        return metrics

    def predict_step(self, *arguments: Any) -> Outputs:
        """Checks the features of a batch, and runs a step of `predict`."""
        self._check_batch(arguments[-1])
        return super().predict_step(*arguments)

    def _check_batch(self, batch: Tensor) -> None:
        """Checks the features of a batch as Keras passes it to a step."""
        features, *_ = keras.utils.unpack_x_y_sample_weight(batch)
        # The batch may also be a tensor of `input_ids`, without segment ids.
        if isinstance(features, Mapping):
            self.check_features(features)
            check_ranges(features, self.config.type_vocab_size)

    def compute_loss(
        self,
        x: Features | None = None,
        y: Outputs | None = None,
        y_pred: Outputs | None = None,
        sample_weight: Outputs | None = None,
        training: bool = True,
    ) -> Tensor:
        """Returns the loss of a step of `fit` or `evaluate`, a scalar.

        For a loss of this package, the labels are the features that the loss
        reads: `y` is a dict of them, or `label_ids`, or None where `x` contains
        them. `sample_weight` is `example_weights` [B] or, for a `TokenLoss`,
        `label_weights` [B, T].
        """
        if not isinstance(self.loss, Loss):
            return super().compute_loss(x, y, y_pred, sample_weight, training)
        features = self.loss.join_labels(x or {}, y, sample_weight)
        return self.loss(cast("Outputs", y_pred), features)[0]

    def compute_metrics(
        self,
        x: Features,
        y: Outputs | None,
        y_pred: Outputs,
        sample_weight: Outputs | None = None,
    ) -> dict[str, Tensor]:
        """Returns the metrics of `compile`, updated with a step's batch.

        For a loss of this package, the metrics of an output get its labels.
        """
        labels: object = y
        weights: object = sample_weight
        if isinstance(self.loss, Loss) and self._compile_metrics is not None:
            features = self.loss.join_labels(x, y, sample_weight)
            labels, weights = metric_targets.labels_and_weights(
                self.loss, features
            )
        elif isinstance(y, Mapping) and isinstance(y_pred, Mapping):
            # Keras would need labels even of outputs without metrics.
            labels = {name: y.get(name) for name in y_pred}
            if isinstance(sample_weight, Mapping):
                weights = {name: sample_weight.get(name) for name in y_pred}
        metrics: dict[str, Tensor] = super().compute_metrics(
            x, labels, y_pred, weights
        )
        return metrics

    def get_build_config(self) -> JsonObject:
        """Returns what else a file says: frozen layers and quantization."""
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
        trainable = config.get("trainable", [])
        # A layer comes before the layers inside it, which its flag changes.
        for layer, flag in zip(all_layers(self), trainable, strict=False):
            if layer.trainable != flag:
                layer.trainable = flag

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
        **kwargs: Any,
    ) -> None:
        """Exports the network, from ids to outputs, as Keras does.

        The export reads a dict of `feature_ranks`, int32, of any batch size
        and length. `serving.export` also exports the tokenizer.

        Args:
            filepath: path of the export.
            format: format of the export, a name that Keras knows.
            verbose: whether to print messages.
            input_signature: the inputs, as Keras takes them. By default all
                features that the model reads.
            **kwargs: options of the format.

        Raises:
            ImportError: a package of the format is not installed.
            ValueError: `format` is unknown, or the backend cannot write it.
        """
        if not self.built:
            self.build()
        if input_signature is None:
            input_signature = keras_export.create_signature(self.feature_ranks)
            kwargs = keras_export.create_options(self, format) | kwargs
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


def _is_dense(layer: keras.layers.Layer) -> bool:
    return isinstance(layer, keras.layers.Dense)
