"""Names the types of NumPy arrays. Docstrings state their shapes."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

# Of the network: float32. Of what Python computes from it: also float64.
FloatArray: TypeAlias = NDArray[np.floating]
# Ids and positions, int32 for the network and int64 as NumPy's own indices.
IntArray: TypeAlias = NDArray[np.integer]
# Labels for metrics: ids, int64, or the numbers of a regression, float32.
LabelArray: TypeAlias = NDArray[np.number]
BoolArray: TypeAlias = NDArray[np.bool_]
# {name of a feature: its array}. Any, because its elements may be numbers, such
# as ids, or strings, such as guids.
FeatureArrays: TypeAlias = Mapping[str, NDArray[Any]]
# What a model returns for a batch: one array, or {name: array}. The values are
# objects, so that the bound includes TypedDicts.
OutputsT = TypeVar("OutputsT", bound="FloatArray | Mapping[str, object]")
# A batch of a prediction: (features, the model's outputs).
Batch: TypeAlias = tuple[FeatureArrays, OutputsT]
Batches: TypeAlias = Iterable[Batch[OutputsT]]
