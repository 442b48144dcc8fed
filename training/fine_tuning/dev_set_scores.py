"""Scores a dev set by the outputs of the model, or of its export."""

from collections.abc import Iterator
from typing import Generic

import numpy as np

from data.arrays import Batch, Batches, OutputsT
from data.sets.set_names import suffix_of
from model_folders.scores import Scores
from modeling.base_loss import Loss
from training.config.fine_tuning_config import FineTuningConfig
from training.task import ContextT, EncodedSet, ExampleT, FineTuningTask


def score_dev_set(
    task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
    dev_set: EncodedSet[ExampleT, ContextT],
    batches: Batches[OutputsT],
    *,
    loss: Loss[OutputsT] | None = None,
) -> Scores:
    """Returns the scores of a dev set, with its suffix in their names.

    Args:
        task: task that computes the scores.
        dev_set: the set to score.
        batches: the features of the set and the outputs, which are read once.
        loss: loss to add to the scores as "eval_loss", None to add none.
    """
    suffix = suffix_of(dev_set.name)
    if loss is None:
        return task.compute_scores(dev_set, batches).with_suffix(suffix)
    mean_loss = MeanLoss(loss)
    # The outputs of all batches together may be too large for the memory. So
    # add the loss of each batch when the task reads it.
    added_batches = mean_loss.add_each(batches)
    scores = task.compute_scores(dev_set, added_batches)
    # Add the batches that the task did not read, too.
    for _ in added_batches:
        pass
    overall = {**scores.overall, "eval_loss": mean_loss.compute()}
    return Scores(overall, scores.by_label).with_suffix(suffix)


class MeanLoss(Generic[OutputsT]):
    """The mean loss of all examples of a set, added up batch by batch.

    Args:
        loss: the loss, with one or several terms.
    """

    def __init__(self, loss: Loss[OutputsT]) -> None:
        self._loss = loss
        # {name of a loss term: [(sum, divisor) of each batch]}.
        self._parts: dict[str, list[tuple[float, float]]] = {}

    def add_each(self, batches: Batches[OutputsT]) -> Iterator[Batch[OutputsT]]:
        """Adds the loss of each batch, then yields the batch unchanged."""
        for features, outputs in batches:
            sums = self._loss.sums(outputs, features)
            divisors = self._loss.divisors(features)
            for name, value in sums.items():
                pair = float(value), float(divisors[name])
                self._parts.setdefault(name, []).append(pair)
            yield features, outputs

    def compute(self) -> float:
        """Returns the sum of the means of all terms, such as the masked LM.

        Returns NaN if no batch was added.
        """
        if not self._parts:
            return float("nan")
        total = 0.0
        for pairs in self._parts.values():
            sums, divisors = np.array(pairs).T
            # `Loss.means` adds Google's epsilon, for batches of the training.
            # The mean over a set is exact, and 0 without any weight.
            total += float(sums.sum() / max(divisors.sum(), 1.0))
        return total
