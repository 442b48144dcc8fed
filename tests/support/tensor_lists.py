"""Tensors of integers from lists, and back, on any backend of Keras.

For example:

    assert as_lists((integers([1, 2]), 3)) == ([1, 2], 3)
"""

from typing import TypeVar

import keras
import numpy as np

from modeling.tensors import Tensor

NestedT = TypeVar("NestedT")


def integers(values: list[int] | list[list[int]]) -> Tensor:
    """Returns an int32 tensor of these values."""
    return keras.ops.convert_to_tensor(values, dtype="int32")


def as_lists(nested: NestedT) -> NestedT:
    """Returns nested tuples of tensors as the same tuples of lists."""
    lists: NestedT = keras.tree.map_structure(
        lambda value: np.asarray(keras.ops.convert_to_numpy(value)).tolist(),
        nested,
    )
    return lists
