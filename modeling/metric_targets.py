"""Chooses the labels and weights that Keras's metrics compare with outputs."""

from collections.abc import Mapping

from modeling.base_loss import AnyLoss
from modeling.tensors import Features, Outputs, Tensor


def labels_and_weights(
    loss: AnyLoss, features: Features
) -> tuple[Outputs | Mapping[str, Tensor | None], Outputs]:
    """Returns the labels and weights that a loss reads, for metrics.

    Both have the structure of the model's outputs: dicts if the model returns a
    dict. For a model with one output, both are [B], or [B, T] for a
    `TokenLoss`. The weights count in the `weighted_metrics` of `compile`.

    Args:
        loss: the loss that the model was compiled with.
        features: dict of the batch's tensors, labels included.

    Raises:
        ValueError: the loss has no labels.
    """
    if not loss.label_features:
        raise ValueError(
            f"{type(loss).__name__} has no labels, so there is nothing that "
            "metrics could compare. Compile the model without metrics"
        )
    weights = loss.term_weights(features)
    if not loss.target_of_output:
        return features[loss.label_features[0]], weights["loss"]
    # The next sentence loss and its labels may be left out.
    targets = loss.target_of_output.items()
    return (
        {name: features.get(target.label) for name, target in targets},
        {name: weights[target.term] for name, target in targets},
    )
