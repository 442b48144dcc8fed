"""Types of the random numbers of Keras in use."""

from typing import Any

from modeling.tensors import Tensor

class SeedGenerator:
    state: Any
    def __init__(
        self, seed: int | None = None, name: str | None = None, **kwargs: Any
    ) -> None: ...
    def next(self, ordered: bool = True) -> Tensor: ...

def __getattr__(name: str) -> Any: ...
