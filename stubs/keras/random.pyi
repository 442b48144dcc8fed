"""Types of the random numbers of Keras in use."""

from collections.abc import Sequence
from typing import Any

from modeling.tensors import Tensor

class SeedGenerator:
    state: Any
    def __init__(
        self, seed: int | None = None, name: str | None = None, **kwargs: Any
    ) -> None: ...
    def next(self, ordered: bool = True) -> Tensor: ...

# The seed may be another generator, which has the method `next`.
def uniform(
    shape: Sequence[int | Tensor],
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: str | None = None,
    seed: Any = None,
) -> Tensor: ...
