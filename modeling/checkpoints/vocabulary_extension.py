"""Extends the vocabulary of a model."""

from collections.abc import Sequence

import keras
import numpy as np

from modeling.checkpoints.model_creation import ModelT
from modeling.checkpoints.variables import google_name_of

# Variables with one row for each WordPiece of the vocabulary.
_NAMES_WITH_ROW_PER_WORDPIECE = (
    "bert/embeddings/word_embeddings",
    "cls/predictions/output_bias",
)


def extend_model(model: ModelT, rows: Sequence[Sequence[int]]) -> ModelT:
    """Returns a copy of a model with an extended vocabulary.

    The vector of a new word starts as the mean of the vectors of its former
    WordPieces, because the other layers were trained with these vectors.

    Args:
        model: any built model of this package.
        rows: for each row of the new embedding table, the indices of the old
            rows to average. For an unchanged row, only its old index.

    Returns:
        a model of the same class.
    """
    model_config = model.get_config()
    sizes = model_config["config"] | {"vocab_size": len(rows)}
    model_config["config"] = sizes
    extended: ModelT = type(model).from_config(model_config)
    extended.build()
    values = {google_name_of(weight): weight for weight in model.weights}
    for variable in extended.weights:
        name = google_name_of(variable)
        value = keras.ops.convert_to_numpy(values[name])
        if name in _NAMES_WITH_ROW_PER_WORDPIECE:
            value = np.stack([value[list(row)].mean(axis=0) for row in rows])
        variable.assign(value)
    return extended
