"""The features that models read, by Google's names, and checks of a batch."""

import sys
from collections.abc import Iterable, Mapping

import keras

from modeling import ops
from modeling.tensors import Features, Tensor

# All features that records may contain. A model accepts even the features that
# it does not read, so that you can pass a complete training batch.
_FEATURE_NAMES = (
    "input_ids",
    "input_mask",
    "segment_ids",
    "masked_lm_positions",
    "masked_lm_ids",
    "masked_lm_weights",
    "next_sentence_labels",
    "label_ids",
    "label_weights",
    "is_real_example",
    "example_weights",
    "unique_ids",
    "start_positions",
    "end_positions",
)
# The features that a caller may omit.
_OPTIONAL_FEATURES = {"input_mask", "segment_ids"}


def select_features(model: object, features: Features) -> dict[str, Tensor]:
    """Returns the features that a model reads.

    Omits other features of the records, such as labels. If the model has no
    `feature_ranks`, returns all features.
    """
    names = getattr(model, "feature_ranks", features)
    return {name: features[name] for name in names if name in features}


def check_names(
    features: Mapping[str, object], model_class: str, needed: Iterable[str]
) -> None:
    """Checks the names of a model's features.

    Args:
        features: the features of a batch.
        model_class: name of the model's class, for messages.
        needed: names of the features that the model reads. A batch may lack
            `input_mask` and `segment_ids`.

    Raises:
        ValueError: a name is unknown or missing, or `features` is no dict.
    """
    names = sorted(needed)
    if not isinstance(features, Mapping):
        raise ValueError(
            f"{model_class} reads a dict of {names}; received "
            f"{type(features).__name__}"
        )
    if unknown := features.keys() - {*names, *_FEATURE_NAMES}:
        raise ValueError(
            f"{sorted(unknown)} are no inputs of {model_class}. Its inputs "
            f"are {names}"
        )
    if missing := {*names} - _OPTIONAL_FEATURES - features.keys():
        raise ValueError(f"{model_class} lacks the inputs {sorted(missing)}")


def check_ranges(features: Features, num_segments: int) -> None:
    """Checks segment ids and masked positions when the graph of a step runs.

    Segments are looked up by multiplying one-hot vectors with the table, so an
    id beyond the table would silently become a vector of zeros. A masked
    position beyond the sequence would select a WordPiece of another example in
    the batch. Exports contain a check of their own.

    Args:
        features: the features of a batch, with `input_ids` int [B, T] or
            [B, C, T].
        num_segments: number of segments that the model knows.
    """
    length = features["input_ids"].shape[-1]
    sizes = {"segment_ids": num_segments, "masked_lm_positions": length}
    for name, size in sizes.items():
        if size and features.get(name) is not None:
            ops.check_range(features[name], name, size)


def to_integer_ids(ids: Tensor, name: str, num_rows: int) -> Tensor:
    """Returns ids [...] as integers, and checks them if their values are known.

    While a graph is traced, the values are unknown, so nothing is checked. When
    the graph runs, TensorFlow on a CPU raises an error for word ids beyond the
    embedding table, and `check_ranges` checks segment ids and masked positions.

    Raises:
        ValueError: an id is below 0, not below `num_rows` or not a whole
            number, or the ids have a type such as float16 or bool.
    """
    dtype = keras.backend.standardize_dtype(ids.dtype)
    # Keras casts floats to a layer's dtype. In 16 bits, ids would be rounded.
    if dtype in ("float16", "bfloat16", "bool", "string"):
        raise ValueError(f"`{name}` must be integers. Received: {dtype}")
    # Only tensors whose values are known have the method `numpy`.
    if hasattr(ids, "numpy") and not _is_exporting():
        values = keras.ops.convert_to_numpy(ids)
        wrong = (values < 0) | (values >= num_rows) | (values % 1 != 0)
        if wrong.any():
            raise ValueError(
                f"`{name}` must be whole numbers from 0 to {num_rows - 1}. "
                f"Received: {values[wrong].tolist()[0]}"
            )
    return ids if dtype in ("int32", "int64") else keras.ops.cast(ids, "int32")


def _is_exporting() -> bool:
    """Returns whether torch.export is tracing, with tensors without values."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_exporting()
