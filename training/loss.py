"""The interface that training requires of a loss."""

from collections.abc import Mapping
from typing import Any, Protocol


class Loss(Protocol):
    """A loss as sums over a batch divided by weights; see modeling/losses.py.

    For a batch cut into parts, sums and weights are added up first.
    """

    @property
    def epsilon(self) -> Mapping[str, float]:
        """Returns {part: number that is added to its weight}."""

    def sums(
        self, outputs: Any, features: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Returns {part: its sum over the batch}."""

    def weights(self, features: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns {part: what its sum is divided by}."""

    def __call__(
        self, outputs: Any, features: Mapping[str, Any]
    ) -> tuple[Any, Mapping[str, Any]]:
        """Returns the loss of one batch, and {part: its share}."""
