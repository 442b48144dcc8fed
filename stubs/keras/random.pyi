"""Types of the random numbers of Keras in use."""

from collections.abc import Sequence

from keras import Variable

from modeling.tensors import Tensor

class SeedGenerator:
    state: Variable
    def __init__(
        self, seed: int | None = None, name: str | None = None
    ) -> None: ...
    def next(self, ordered: bool = True) -> Tensor: ...

def uniform(
    shape: Sequence[int | Tensor],
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: str | None = None,
    seed: int | SeedGenerator | None = None,
) -> Tensor: ...
