"""Types of the initializers that this project builds on."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from keras.random import SeedGenerator

from modeling.tensors import Tensor

_Seed: TypeAlias = int | SeedGenerator | None

class Initializer:
    def __call__(
        self, shape: Sequence[int], dtype: str | None = None
    ) -> Tensor: ...
    def get_config(self) -> dict[str, Any]: ...

class _RandomInitializer(Initializer):
    seed: _Seed
    def __init__(self, seed: _Seed = None) -> None: ...

class GlorotUniform(_RandomInitializer): ...

class TruncatedNormal(_RandomInitializer):
    mean: float
    stddev: float
    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 0.05,
        seed: _Seed = None,
    ) -> None: ...

class Orthogonal(_RandomInitializer):
    def __init__(self, gain: float = 1.0, seed: _Seed = None) -> None: ...
