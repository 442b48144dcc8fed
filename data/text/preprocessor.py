"""Turns strings into the inputs of models, as a Keras layer.

N = number of texts, T = length of a model input in WordPieces.
"""

from collections.abc import Mapping
from typing import Any, Self, cast

import keras
import tensorflow as tf

from data.text import text_lists
from data.text.packing_graph import PackingLayer, Truncation
from data.text.text_lists import TextsLike
from data.text.tokenization import FullTokenizer
from data.text.tokenizer_layer import TokenizerLayer
from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.reading.input_length import read_max_seq_length
from model_folders.reading.preset import read_preset

# Number of texts that a call outside a graph tokenizes at a time.
_MAX_TEXTS_AT_ONCE = 4096
_INPUT_NAMES = ("input_ids", "input_mask", "segment_ids")


@keras.saving.register_keras_serializable(package="bert")
class BertTextClassifierPreprocessor(keras.layers.Layer):
    """Turns texts, or pairs of texts, into the inputs of a model.

        preprocessor = BertTextClassifierPreprocessor.from_preset(folder)
        model.fit(preprocessor(texts), labels)
        dataset.map(preprocessor)

    The layer has the name and the arguments of KerasHub's, and returns the ids
    that the scripts of this project create. It is part of the graph of an
    exported model, which then reads strings and needs no Python.

    On JAX and torch, Keras cannot hold strings: there, map a `tf.data.Dataset`.

    Args:
        tokenizer: a FullTokenizer, or its `layer`.
        sequence_length: T, at least 3. Longer texts are cut, shorter ones are
            padded.
        truncate: how a pair that is too long is cut. "round_robin", as
            Google's code, cuts the longer text first, "waterfall" the second.
        **kwargs: arguments of keras.layers.Layer.

    Attributes:
        tokenizer: the layer that tokenizes. `tokenizer.vocab` is a list of the
            WordPieces, and `tokenizer.id_of("[MASK]")` the id of one.
        sequence_length: as passed.

    Call arguments:
        x: a text, N texts, or a pair as a tuple `(first texts, second texts)`:
            str, lists, arrays of NumPy or string tensors, or `keras.Input((),
            dtype="string")`. If a second text contains no WordPiece, the first
            text is packed as a single text.
        y: labels, which are returned unchanged.
        sample_weight: weights of the examples, which are returned unchanged.

    Returns:
        dict of int32 [N, T]: input_ids, input_mask, segment_ids. The shape is
        [T] for a scalar tensor, as in a dataset that is not batched, and [1, T]
        for a `str`. With labels, a tuple `(dict, y)` or `(dict, y,
        sample_weight)`, as `fit` expects.

    Raises:
        TypeError: a text is not a string, or `tokenizer` is no tokenizer.
        ValueError: an argument has another value, there are more first or more
            second texts, or the layer is called outside of tf.data on JAX or
            torch.
    """

    def __init__(
        self,
        tokenizer: FullTokenizer | TokenizerLayer,
        sequence_length: int = 512,
        truncate: Truncation = "round_robin",
        **kwargs: Any,  # of keras.layers.Layer
    ) -> None:
        super().__init__(**kwargs)
        if isinstance(tokenizer, FullTokenizer):
            tokenizer = tokenizer.layer
        if not isinstance(tokenizer, TokenizerLayer):
            raise TypeError(
                "tokenizer must be a FullTokenizer; received "
                f"{type(tokenizer).__name__}. Use FullTokenizer(path) of a "
                f"vocabulary, or {type(self).__name__}.from_preset(path) of a "
                "model's folder"
            )
        self.packing = PackingLayer(tokenizer, sequence_length, truncate)
        self.supports_jit = False  # XLA knows no strings.
        self.built = True  # The layer has no weights.

    @classmethod
    def from_preset(
        cls,
        path: StrPath,
        sequence_length: int | None = None,
        special_tokens_in_strings: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Creates the layer with the vocabulary and the casing of a folder.

        Args:
            path: a folder of a run, of Google's release or of a Hugging Face
                model, or a model of the hub, hf://OWNER/NAME.
            sequence_length: T. None = as the model was trained, or the number
                of its positions if no file says it.
            special_tokens_in_strings: as in FullTokenizer.
            **kwargs: other arguments of the constructor.

        Raises:
            OSError: there is no vocabulary, or it cannot be downloaded.
            ValueError: no file says the casing, or the tokenizer is not
                BERT's.
        """
        preset = read_preset(path)
        tokenizer = FullTokenizer.from_preset(preset, special_tokens_in_strings)
        if sequence_length is None:
            bert_config = preset.load_config()
            num_positions = 512
            if bert_config:
                num_positions = bert_config.max_position_embeddings
            sequence_length = read_max_seq_length(
                preset, preset.model_class or "", num_positions
            )
        return cls(tokenizer, sequence_length, **kwargs)

    @property
    def tokenizer(self) -> TokenizerLayer:
        """The layer that tokenizes the texts."""
        return self.packing.tokenizer

    @property
    def sequence_length(self) -> int:
        """Length of a model input in WordPieces."""
        return self.packing.max_seq_length

    def __call__(
        self,
        x: TextsLike | tuple[TextsLike, ...],
        y: object = None,
        sample_weight: object = None,
        **_: object,  # such as `training`, which functional models pass
    ) -> Any:  # noqa: ANN401  a dict, or a tuple with the labels
        """Turns texts into the inputs of a model."""
        if any(map(keras.backend.is_keras_tensor, keras.tree.flatten(x))):
            return super().__call__(x)
        # Keras would convert the texts to tensors of its backend.
        return self.call(x, y, sample_weight)

    def call(
        self,
        x: TextsLike | tuple[TextsLike, ...],
        y: object = None,
        sample_weight: object = None,
    ) -> Any:  # noqa: ANN401  as `__call__`
        """Turns texts into the inputs of a model.

        Raises:
            TypeError: a text is not a string.
            ValueError: the first and second texts differ in shape, the labels
                are strings, or Keras's backend holds no strings.
        """
        backend = keras.backend.backend()
        if backend != "tensorflow" and tf.executing_eagerly():
            raise ValueError(
                f"Keras on {backend} holds no strings: call "
                f"{type(self).__name__} inside tf.data, as in "
                "dataset.map(preprocessor), or use tokenizer(texts) of a "
                "FullTokenizer"
            )
        if getattr(y, "dtype", None) == tf.string:
            raise ValueError(
                "labels must be numbers; received strings. Pass a pair of "
                "texts as a tuple: dataset.map(lambda a, b: preprocessor((a, "
                "b)))"
            )
        texts = [_to_tensor(segment) for segment in _to_segments(x)]
        shapes = [text.shape for text in texts]
        known_shapes = [shape for shape in shapes if shape.is_fully_defined()]
        if any(shape != known_shapes[0] for shape in known_shapes):
            raise ValueError(
                f"first and second texts of a pair differ in shape: "
                f"{shapes[0]} and {shapes[1]}"
            )
        features = self._pack([tf.reshape(text, [-1]) for text in texts])
        if shapes[0].rank == 0:
            features = {name: row[0] for name, row in features.items()}
        return keras.utils.pack_x_y_sample_weight(features, y, sample_weight)

    def _pack(self, texts: list[tf.Tensor]) -> dict[str, tf.Tensor]:
        """Packs texts, string [N] each."""
        if not tf.executing_eagerly() or len(texts[0]) <= _MAX_TEXTS_AT_ONCE:
            return self.packing.call(*texts)
        parts = [
            self.packing.call(
                *(text[start : start + _MAX_TEXTS_AT_ONCE] for text in texts)
            )
            for start in range(0, len(texts[0]), _MAX_TEXTS_AT_ONCE)
        ]
        return {
            name: tf.concat([part[name] for part in parts], 0)
            for name in _INPUT_NAMES
        }

    def compute_output_spec(
        self,
        x: keras.KerasTensor | tuple[keras.KerasTensor, ...],
        *_: object,
        **__: object,
    ) -> dict[str, keras.KerasTensor]:
        """Returns the shapes and dtypes of the outputs of symbolic texts."""
        # (number of texts,), or () for a single text.
        batch_shape = _to_segments(x)[0].shape[:1]
        return {
            name: keras.KerasTensor(
                (*batch_shape, self.sequence_length), "int32"
            )
            for name in _INPUT_NAMES
        }

    def get_config(self) -> JsonObject:
        """Returns the constructor's arguments, the vocabulary among them."""
        tokenizer = self.tokenizer
        return {
            **super().get_config(),
            "tokenizer": {
                "vocab": tokenizer.vocab,
                "do_lower_case": tokenizer.do_lower_case,
                "special_words": tokenizer.special_words,
            },
            "sequence_length": self.sequence_length,
            "truncate": self.packing.truncate,
        }

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """Creates the layer that `get_config` described."""
        # `get_config` wrote the arguments.
        arguments = cast("dict[str, Any]", config["tokenizer"])
        tokenizer = TokenizerLayer(**arguments)
        layer: Self = super().from_config({**config, "tokenizer": tokenizer})
        return layer


# Any, because a segment is a tensor of any backend, or texts.
def _to_segments(x: object) -> tuple[Any, ...]:
    """Returns the first texts, and of pairs the second texts too."""
    if isinstance(x, (tuple, list)) and x and hasattr(x[0], "dtype"):
        # Keras makes lists of the tuples in a model that it loads.
        x = tuple(x)
    if isinstance(x, Mapping):
        raise TypeError(
            f"texts must be strings; received {type(x).__name__} of "
            f"{sorted(x)}. Pass the texts of one name, or a pair as a tuple "
            "(first texts, second texts)"
        )
    if isinstance(x, tf.data.Dataset):
        raise TypeError(
            f"texts must be strings; received {type(x).__name__}. Of a "
            "tf.data.Dataset of strings, use dataset.map(preprocessor)"
        )
    if not isinstance(x, tuple):
        return (x,)
    if len(x) > 2:
        raise ValueError(
            f"a tuple is a pair (first texts, second texts); received {len(x)} "
            "elements. Pass several texts as a list"
        )
    return x


def _to_tensor(texts: TextsLike) -> tf.Tensor:
    """Returns texts as a string tensor of the shape [N], or [] of a scalar."""
    if not tf.is_tensor(texts):
        encoded = [
            text.encode("utf-8", "ignore") for text in text_lists.to_list(texts)
        ]
        return tf.constant(encoded, tf.string, [len(encoded)])
    shape = texts.shape
    is_column = shape.rank == 2 and shape[1] == 1
    if texts.dtype != tf.string or not (
        shape.rank in (0, 1, None) or is_column
    ):
        raise TypeError(
            f"texts must be a tensor of strings, [N]; received "
            f"{texts.dtype.name}, {shape}. Pass a pair as a tuple (first "
            "texts, second texts)"
        )
    return texts[:, 0] if is_column else texts
