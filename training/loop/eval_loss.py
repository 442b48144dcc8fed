"""Adds up the loss of an evaluation, batch by batch."""

from collections.abc import Iterator
from typing import Generic

import numpy as np

from data.arrays import Batch, Batches, OutputsT
from model_folders.scores import Scores
from modeling.base_loss import Loss


class EvalLoss(Generic[OutputsT]):
    """Adds up the loss of evaluation batches while they are iterated over.

    Iterate over all batches once, and then call `scores`.
    """

    def __init__(
        self, loss: Loss[OutputsT], batches: Batches[OutputsT]
    ) -> None:
        self._loss = loss
        self._batches = batches
        # {name of a loss term: [(sum, divisor) of each batch]}.
        self._parts: dict[str, list[tuple[float, float]]] = {}
        self._has_read_all = False

    def __iter__(self) -> Iterator[Batch[OutputsT]]:
        """Yields the batches unchanged."""
        for features, outputs in self._batches:
            sums = self._loss.sums(outputs, features)
            divisors = self._loss.divisors(features)
            for name, value in sums.items():
                pair = float(value), float(divisors[name])
                self._parts.setdefault(name, []).append(pair)
            yield features, outputs
        self._has_read_all = True

    def scores(self) -> Scores:
        """Returns {"eval_loss": mean loss of all examples}.

        The mean loss is the sum of the means of its terms, such as the masked
        LM loss. Without a batch, it is NaN.

        Raises:
            ValueError: not all batches were read.
        """
        if not self._has_read_all:
            raise ValueError("`evaluate` of the task must read all batches")
        total = 0.0 if self._parts else float("nan")
        for pairs in self._parts.values():
            sums, divisors = np.array(pairs).T
            # `Loss.means` adds Google's epsilon, for batches of the training.
            # The mean over a set is exact, and 0 without any weight.
            total += float(sums.sum() / max(divisors.sum(), 1.0))
        return {"eval_loss": total}
