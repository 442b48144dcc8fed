"""Computes the loss of a dev set, beside the scores of its task."""

from collections.abc import Iterator
from typing import Generic

import numpy as np

from data.arrays import Batch, Batches, OutputsT
from model_folders.scores import Scores
from modeling.base_loss import Loss


class BatchesWithLoss(Generic[OutputsT]):
    """Batches of an evaluation, whose loss is added up while they are read.

    Iterate over the batches once, and then call `compute_scores`.
    """

    def __init__(
        self, loss: Loss[OutputsT], batches: Batches[OutputsT]
    ) -> None:
        self._loss = loss
        self._unread = iter(batches)
        # {name of a loss term: [(sum, divisor) of each batch]}.
        self._parts: dict[str, list[tuple[float, float]]] = {}

    def __iter__(self) -> Iterator[Batch[OutputsT]]:
        """Yields the batches unchanged, and adds their loss."""
        for features, outputs in self._unread:
            sums = self._loss.sums(outputs, features)
            divisors = self._loss.divisors(features)
            for name, value in sums.items():
                pair = float(value), float(divisors[name])
                self._parts.setdefault(name, []).append(pair)
            yield features, outputs

    def compute_scores(self) -> Scores:
        """Returns {"eval_loss": mean loss of all examples}.

        The mean loss is the sum of the means of its terms, such as the masked
        LM loss. Without a batch, it is NaN. Reads the batches that nobody has
        read so far.
        """
        for _ in self:
            pass
        total = 0.0 if self._parts else float("nan")
        for pairs in self._parts.values():
            sums, divisors = np.array(pairs).T
            # `Loss.means` adds Google's epsilon, for batches of the training.
            # The mean over a set is exact, and 0 without any weight.
            total += float(sums.sum() / max(divisors.sum(), 1.0))
        return {"eval_loss": total}
