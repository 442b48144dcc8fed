"""Extends a model's vocabulary."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from modeling.checkpoints.names import original_name

# The variables that have a row for each WordPiece.
_PER_WORDPIECE = (
    "bert/embeddings/word_embeddings",
    "cls/predictions/output_bias",
)


def extend_model(model: keras.Model, rows: Sequence[Sequence[int]]) -> Any:
    """Returns the model with another vocabulary.

    A new word starts as the mean of its former WordPieces, so the model keeps
    what it knew of the word. Random values would confuse the trained layers.

    Args:
        model: any model here, built.
        rows: for each row of the new embeddings, the old rows to average; its
            own number if unchanged.

    Returns:
        a model of the same class.
    """
    settings = model.get_config()
    settings["config"] = settings["config"] | {"vocab_size": len(rows)}
    extended = type(model).from_config(settings)
    extended.build()
    values = {original_name(weight): weight for weight in model.weights}
    for variable in extended.weights:
        name = original_name(variable)
        value = keras.ops.convert_to_numpy(values[name])
        if name in _PER_WORDPIECE:
            value = np.stack([value[list(row)].mean(axis=0) for row in rows])
        variable.assign(value)
    return extended
