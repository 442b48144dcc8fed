"""Base class of this package's models, which read a dict of features.

The class knows the inputs of its model, so `build` creates the weights without
a batch. It overrides the methods in which Keras would infer the inputs from a
batch.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Self

import keras
from absl import logging

from files.paths import StrPath
from modeling import ops, presets
from modeling.checkpoints import (
    find_checkpoint,
    load_checkpoint,
    read_shapes,
)
from modeling.config import BertConfig

Shape = tuple[int | None, ...]


# {name of a feature in other libraries: name in this project}.
_OTHER_NAMES = {
    "attention_mask": "input_mask",
    "input_type_ids": "segment_ids",
    "input_word_ids": "input_ids",
    "padding_mask": "input_mask",
    "token_ids": "input_ids",
    "token_type_ids": "segment_ids",
}
# All features that records may contain. A model accepts even the features that
# it does not read, so that you can pass a complete training batch.
_NAMES = (
    *("input_ids", "input_mask", "segment_ids", "masked_lm_positions"),
    *("masked_lm_ids", "masked_lm_weights", "next_sentence_labels"),
    *("label_ids", "label_weights", "is_real_example", "example_weights"),
    *("unique_ids", "start_positions", "end_positions"),
)


class FeaturesModel(keras.Model):
    """A model that reads features named as in Google's code.

    The first argument of a subclass's constructor is `config`, a `BertConfig`.
    If you change `trainable` or the dtype policy of inner layers, the model's
    configuration records the change, so `.keras` files and
    `keras.models.clone_model` keep it. As in Keras, a `.keras` file contains
    LoRA weights merged into the kernels.

    Attributes:
        feature_ranks: {name: rank} of the features that the model reads, all
            int32. Exported models have these inputs, and prediction passes only
            these features to the model.
    """

    feature_ranks: dict[str, int] = {
        "input_ids": 2,
        "input_mask": 2,
        "segment_ids": 2,
    }

    @classmethod
    def from_preset(cls, path: StrPath, **options: Any) -> Self:
        """Creates a model with the configuration and the weights of a folder.

        Args:
            path: a folder of a run, of Google's release or of a Hugging Face
                model, a checkpoint in it, or a model of the Hugging Face hub,
                hf://OWNER/NAME or hf://OWNER/NAME@REVISION.
            **options: arguments of the class, such as `num_labels`. By default,
                as in the folder, if its model is of the same class.

        Raises:
            OSError: a file is missing, cannot be read or cannot be downloaded.
            ValueError: the folder contains no BERT, or weights of other shapes.
        """
        preset = presets.read(path)
        config = preset.load_config()
        if config is None:
            raise FileNotFoundError(
                f"{preset.path} contains no bert_config.json or config.json"
            )
        if cls.__name__ in ("BertModel", "BertEmbedder"):
            preset.warn_of_pooling()
        is_own = preset.head == cls.__name__
        if is_own and "num_labels" in inspect.signature(cls).parameters:
            shapes = read_shapes(find_checkpoint(preset.weights))
            bias = shapes.get("output_bias") or shapes["classifier.bias"]
            options.setdefault("num_labels", bias[0])
        for name, value in preset.network.items():
            # The LSTM of --bilstm belongs to the head.
            if value and (is_own or name != "bilstm"):
                options.setdefault(name, value)
        model = cls(config, **options)
        report = load_checkpoint(model, preset.weights)
        if report.missing:
            logging.warning(
                "%s lacks %s, which start at random values.",
                *(preset.weights, ", ".join(report.missing)),
            )
        return model

    def check_features(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the features, named as in Google's code.

        Renames transformers' `attention_mask` and `token_type_ids`,
        KerasHub's `padding_mask` and `token_ids`, and TF Hub's
        `input_word_ids` and `input_type_ids`.

        Raises:
            ValueError: the features are not a dict, a name is unknown, or two
                names mean the same feature.
        """
        if not isinstance(features, Mapping):
            raise ValueError(
                "The features must be a dict that contains `input_ids`. "
                f"Received: {features}"
            )
        names = {*self.feature_ranks, *_NAMES}
        checked: dict[str, Any] = {}
        for given, value in features.items():
            name = _OTHER_NAMES.get(given, given)
            if name not in names or name in checked:
                raise ValueError(
                    f"`{given}` is no input of {type(self).__name__}, or has "
                    f"two names. Received: {sorted(features)}"
                )
            checked[name] = value
        return checked

    def export(
        self,
        filepath: Any,
        format: str = "tf_saved_model",
        verbose: bool | None = None,
        input_signature: Any = None,
        **kwargs: Any,
    ) -> None:
        """Exports the model as `keras.Model.export` does.

        The model need not have been called. Without an `input_signature`, the
        inputs are a dict of all features in `feature_ranks`, of any size.
        """
        self.build_once()
        if input_signature is None:
            input_signature = [
                {
                    name: keras.InputSpec("int32", (None,) * rank, name=name)
                    for name, rank in self.feature_ranks.items()
                }
            ]
        model = self.exported_model()
        keras.Model.export(
            model, filepath, format, verbose, input_signature, **kwargs
        )

    def exported_model(self) -> keras.Model:
        """Returns the model that `export` writes, by default this model."""
        return self

    def build_once(self) -> None:
        """Creates the weights if they do not exist yet."""
        if not self.built:
            self.build()

    # Keras passes the batch to a step as the last argument.
    def train_step(self, *arguments: Any) -> Any:
        """Runs a step of `fit` on a batch."""
        self._check_ranges(arguments[-1])
        return super().train_step(*arguments)

    def test_step(self, *arguments: Any) -> Any:
        """Runs a step of `evaluate` on a batch."""
        self._check_ranges(arguments[-1])
        return super().test_step(*arguments)

    def predict_step(self, *arguments: Any) -> Any:
        """Runs a step of `predict` on a batch."""
        self._check_ranges(arguments[-1])
        return super().predict_step(*arguments)

    def _check_ranges(self, data: Any) -> None:
        """Adds a check of segment ids and masked positions to a step's graph.

        Segments are looked up by multiplying one-hot vectors with the table, so
        an id beyond the table would silently become a vector of zeros. A
        masked position beyond the sequence would select a WordPiece of another
        example in the batch. Exports contain a check of their own.
        """
        features, *_ = keras.utils.unpack_x_y_sample_weight(data)
        if not isinstance(features, Mapping):
            # The batch is a tensor of `input_ids`, without segment ids.
            return
        features = self.check_features(features)
        length = get_feature(features, "input_ids").shape[-1]
        num_segments = self.config.type_vocab_size
        sizes = {"segment_ids": num_segments, "masked_lm_positions": length}
        for name, size in sizes.items():
            if size and features.get(name) is not None:
                ops.check_range(features[name], name, size)

    # Keras calls the next three methods before it traces a graph. They create
    # the weights, because a graph compiled by XLA cannot use the state of the
    # seed generator.
    def make_train_function(self, force: bool = False) -> Any:
        """Creates the weights, and returns the function that `fit` calls."""
        self.build_once()
        return super().make_train_function(force)

    def make_test_function(self, force: bool = False) -> Any:
        """Creates the weights, and returns the function `evaluate` calls."""
        self.build_once()
        return super().make_test_function(force)

    def make_predict_function(self, force: bool = False) -> Any:
        """Creates the weights, and returns the function `predict` calls."""
        self.build_once()
        return super().make_predict_function(force)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments, and settings of inner layers.

        The settings are values of `trainable` and of the dtype policy that
        differ from the outer layer's values.
        """
        settings: dict[str, dict[str, Any]] = {}
        for path, layer, parent in _inner_layers(self):
            if layer.trainable != parent.trainable:
                settings.setdefault(path, {})["trainable"] = layer.trainable
            if layer.dtype_policy != parent.dtype_policy:
                policy = keras.dtype_policies.serialize(layer.dtype_policy)
                settings.setdefault(path, {})["dtype_policy"] = policy
        config = super().get_config()
        return config | ({"layer_settings": settings} if settings else {})

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Creates the model that `get_config` described, with new weights."""
        config = dict(config)
        settings = config.pop("layer_settings", {})
        config["config"] = BertConfig.from_dict(config["config"])
        model = super().from_config(config)
        model.trainable = model.trainable
        for path, layer, _ in _inner_layers(model):
            own = settings.get(path, {})
            if "trainable" in own:
                layer.trainable = own["trainable"]
            if "dtype_policy" in own:
                layer.dtype_policy = keras.dtype_policies.deserialize(
                    own["dtype_policy"]
                )
        return model


def select_features(model: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the features that a model reads.

    Omits other features of the records, such as labels. If the model has no
    `feature_ranks`, returns all features.
    """
    names = getattr(model, "feature_ranks", features)
    return {name: features[name] for name in names if name in features}


def check_ids(ids: Any, name: str, num_rows: int) -> Any:
    """Returns ids as integers, and checks the ids if their values are known.

    While a graph is traced, the values are unknown, so nothing is checked. When
    the graph runs, TensorFlow on a CPU raises an error for word ids beyond the
    embedding table, and `FeaturesModel` checks segment ids and masked positions
    in `train_step`, `test_step` and `predict_step`.

    Raises:
        ValueError: an id is below 0, not below `num_rows` or not a whole
            number, or the ids have a type such as float16 or bool.
    """
    dtype = keras.backend.standardize_dtype(ids.dtype)
    # Keras casts floats to a layer's dtype. In 16 bits, ids would be rounded.
    if dtype in ("float16", "bfloat16", "bool", "string"):
        raise ValueError(f"`{name}` must be integers. Received: {dtype}")
    # Only tensors whose values are known have the method `numpy`.
    if hasattr(ids, "numpy"):
        values = keras.ops.convert_to_numpy(ids)
        wrong = (values < 0) | (values >= num_rows) | (values % 1 != 0)
        if wrong.any():
            raise ValueError(
                f"`{name}` must be whole numbers from 0 to {num_rows - 1}. "
                f"Received: {values[wrong].tolist()[0]}"
            )
    return ids if dtype in ("int32", "int64") else keras.ops.cast(ids, "int32")


def get_feature(features: Mapping[str, Any], name: str) -> Any:
    """Returns the feature called `name`.

    Raises:
        ValueError: the feature is missing, or the features are not a dict.
    """
    if not isinstance(features, dict) or name not in features:
        received = sorted(features) if isinstance(features, dict) else features
        raise ValueError(
            f"The features must be a dict that contains `{name}`. "
            f"Received: {received}"
        )
    return features[name]


def _inner_layers(
    layer: keras.layers.Layer, path: str = ""
) -> Iterator[tuple[str, keras.layers.Layer, keras.layers.Layer]]:
    """Yields (path, inner layer, parent of the layer), outer layers first.

    A path consists of attribute names, like the paths of weights in `.keras`
    files: `bert/encoder/blocks/0/attention/query`.
    """
    for name, value in vars(layer).items():
        members = {name: value}
        if isinstance(value, list):
            members = {f"{name}/{i}": each for i, each in enumerate(value)}
        for member, inner in members.items():
            is_layer = isinstance(inner, keras.layers.Layer)
            if is_layer and not name.startswith("_"):
                yield path + member, inner, layer
                yield from _inner_layers(inner, f"{path}{member}/")
