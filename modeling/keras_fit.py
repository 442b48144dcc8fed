"""Makes Keras's `fit`, `evaluate` and `predict` read a dict of features.

The functions below the class find the labels and weights of `fit` among these
features, for our losses and for Keras's metrics.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, cast

import keras

from model_folders.bert_config import BertConfig
from modeling.base_loss import AnyLoss, Loss
from modeling.features import check_names, check_ranges
from modeling.tensors import Features, Outputs, Tensor

# The labels or weights that a caller of `fit` passes: one tensor, or
# {name: tensor}.
Labels: TypeAlias = Tensor | Features


class KerasFitModel(keras.Model):
    """A keras.Model that `fit` trains on dicts of features, with our losses.

    Attributes:
        config: sizes of the network. The constructor of a subclass sets it.
        num_labels: number of outputs of the head, None for a model whose
            outputs have no labels, such as a BertSpanLabeler.
        feature_ranks: {name: rank} of the features that the model reads, all
            int32. Exported models have these inputs, and prediction passes only
            these features to the model.
    """

    config: BertConfig
    num_labels: int | None = None
    feature_ranks: ClassVar[dict[str, int]] = {
        "input_ids": 2,
        "input_mask": 2,
        "segment_ids": 2,
    }
    # The rank of the ids in the graph that Keras created for `predict`.
    _rank_of_graph: int | None = None

    def check_features(self, features: Mapping[str, object]) -> None:
        """Checks the names of the features of a batch.

        A model would silently ignore a mask with another name. A batch may lack
        `input_mask` and `segment_ids`.

        Raises:
            ValueError: a name is unknown or missing, or the features are no
                dict.
        """
        check_names(features, type(self).__name__, self.feature_ranks)

    # The arguments are those of `keras.Model.compile`.
    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Configures training as Keras does, and creates the weights.

        A graph compiled by XLA cannot create weights.
        """
        if not self.built:
            self.build()
        super().compile(*args, **kwargs)

    # The other arguments are those of `keras.Model.predict`.
    def predict(
        self, x: object, *args: Any, **kwargs: Any
    ) -> Tensor | Features:
        """Predicts as Keras does, also if the rank of the ids has changed.

        A model of several texts per example reads ids [B, T] and [B, C, T].
        """
        batch = getattr(x, "element_spec", x)
        features, *_ = keras.utils.unpack_x_y_sample_weight(batch)
        if isinstance(features, Mapping) and "input_ids" in features:
            # Keras would widen the graph of the last call to ids of any rank,
            # which have no axes.
            rank = len(getattr(features["input_ids"], "shape", ()))
            self.make_predict_function(force=rank != self._rank_of_graph)
            self._rank_of_graph = rank
        outputs: Tensor | Features = super().predict(x, *args, **kwargs)
        return outputs

    # Keras passes the batch to a step as the last argument.
    def train_step(self, *arguments: object) -> dict[str, Tensor]:
        """Checks the features of a batch, and runs a step of `fit`."""
        self._check_batch(arguments[-1])
        return super().train_step(*arguments)

    def test_step(self, *arguments: object) -> dict[str, Tensor]:
        """Checks the features of a batch, and runs a step of `evaluate`."""
        self._check_batch(arguments[-1])
        return super().test_step(*arguments)

    def predict_step(self, *arguments: object) -> Outputs:
        """Checks the features of a batch, and runs a step of `predict`."""
        self._check_batch(arguments[-1])
        outputs: Outputs = super().predict_step(*arguments)
        return outputs

    def _check_batch(self, batch: object) -> None:
        """Checks the features of a batch as Keras passes it to a step."""
        features, *_ = keras.utils.unpack_x_y_sample_weight(batch)
        # The batch may also be a tensor of `input_ids`, without segment ids.
        if isinstance(features, Mapping):
            self.check_features(features)
            check_ranges(features, self.config.type_vocab_size)

    def compute_loss(
        self,
        x: Features | None = None,
        y: Labels | None = None,
        y_pred: Outputs | None = None,
        sample_weight: Labels | None = None,
        training: bool = True,
    ) -> Tensor:
        """Returns the loss of a step of `fit` or `evaluate`, a scalar.

        For a loss of this package, the labels are the features that the loss
        reads: `y` is a dict of these labels, or `label_ids`, or None if `x`
        contains the labels. `sample_weight` is `example_weights` [B] or, for a
        `TokenLoss`, `label_weights` [B, T].
        """
        if isinstance(self.loss, Loss):
            features = merge_labels(self.loss, x or {}, y, sample_weight)
            # Keras always passes the outputs, although the default of `y_pred`
            # is None.
            loss, _ = self.loss(cast("Outputs", y_pred), features)
            return loss
        return super().compute_loss(x, y, y_pred, sample_weight, training)

    def compute_metrics(
        self,
        x: Features,
        y: Labels | None,
        y_pred: Outputs,
        sample_weight: Labels | None = None,
    ) -> dict[str, Tensor]:
        """Returns the metrics of `compile`, updated with a step's batch.

        For a loss of this package, the metrics compare each output with the
        labels of the output.
        """
        labels: object = y
        weights: object = sample_weight
        if isinstance(self.loss, Loss) and self._compile_metrics is not None:
            features = merge_labels(self.loss, x, y, sample_weight)
            labels, weights = labels_and_weights(self.loss, features)
        elif isinstance(y, Mapping) and isinstance(y_pred, Mapping):
            # Keras would need labels even of outputs without metrics.
            labels = {name: y.get(name) for name in y_pred}
            if isinstance(sample_weight, Mapping):
                weights = {name: sample_weight.get(name) for name in y_pred}
        return super().compute_metrics(x, labels, y_pred, weights)


def merge_labels(
    loss: AnyLoss,
    features: Features,
    labels: Labels | None,
    sample_weight: Labels | None,
) -> Features:
    """Merges a batch of Keras's `fit` into the features that a loss reads.

    Args:
        loss: the loss that the model was compiled with.
        features: dict of the model's inputs, labels included or not.
        labels: dict of labels, or the only label, such as [B]. If None,
            `features` contains the labels.
        sample_weight: weights [B], or [B, T] of a `TokenLoss`. If None,
            `features` may contain the weights.

    Raises:
        ValueError: a label or a weight is missing.
    """
    merged = dict(features)
    names = loss.label_features
    if isinstance(labels, Mapping):
        merged |= labels
    elif labels is not None and len(names) == 1:
        merged[names[0]] = labels
    if sample_weight is not None:
        # `fit` also accepts a dict of weights, but our losses do not.
        merged[loss.sample_weight_feature] = cast("Tensor", sample_weight)
    if missing := [name for name in names if name not in merged]:
        raise ValueError(
            f"{type(loss).__name__} lacks {', '.join(missing)}. Pass a dict of "
            f"{', '.join(names)} as labels (y)"
        )
    return merged


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
