"""Tells our losses, and Keras's metrics, the labels and weights of `fit`."""

from collections.abc import Mapping
from typing import TypeAlias, cast

from modeling.base_loss import AnyLoss
from modeling.tensors import Features, Tensor

# The labels or weights that a caller of `fit` passes: one tensor, or
# {name: tensor}.
Labels: TypeAlias = Tensor | Features


def join_labels(
    loss: AnyLoss,
    features: Features,
    labels: Labels | None,
    sample_weight: Labels | None,
) -> Features:
    """Joins a batch of Keras's `fit` to the features that a loss reads.

    Args:
        loss: the loss that the model was compiled with.
        features: dict of the model's inputs, labels included or not.
        labels: dict of labels, or the only label, such as [B]. None =
            `features` contains the labels.
        sample_weight: weights [B], or [B, T] of a `TokenLoss`. None = as in
            `features`.

    Raises:
        ValueError: a label or a weight is missing.
    """
    joined = dict(features)
    names = loss.label_features
    if isinstance(labels, Mapping):
        joined |= labels
    elif labels is not None and len(names) == 1:
        joined[names[0]] = labels
    if sample_weight is not None:
        # `fit` also accepts a dict of weights, but our losses do not.
        joined[loss.sample_weight_feature] = cast("Tensor", sample_weight)
    if missing := [name for name in names if name not in joined]:
        raise ValueError(
            f"{type(loss).__name__} lacks {', '.join(missing)}. Pass a dict of "
            f"{', '.join(names)} as labels (y)"
        )
    return joined


def labels_and_weights(
    loss: AnyLoss, features: Features
) -> tuple[Tensor | Mapping[str, Tensor | None], Labels]:
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
