"""Makes Keras's `fit`, `evaluate` and `predict` read a dict of features."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import keras

from model_folders.bert_config import BertConfig
from modeling.base_loss import Loss
from modeling.features import check_names, check_ranges
from modeling.fit_labels import Labels, join_labels, labels_and_weights
from modeling.outputs import Outputs
from modeling.tensors import Features, Tensor


class KerasFitModel(keras.Model):
    """A keras.Model that `fit` trains on dicts of features, with our losses.

    Attributes:
        config: sizes of the network. The constructor of a subclass sets it.
        num_labels: number of outputs of the head, None for a model whose
            outputs have no labels (see `has_labels` in `kinds.KIND_OF_CLASS`).
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

    def check_features(self, features: Mapping[str, object]) -> None:
        """Checks the names of features.

        A model would silently ignore a mask with another name.

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

    # Keras passes the batch to a step as the last argument.
    def train_step(self, *arguments: object) -> dict[str, Tensor]:
        """Checks the features of a batch, and runs a step of `fit`."""
        self._check_batch(arguments[-1])
        metrics: dict[str, Tensor] = super().train_step(*arguments)
        return metrics

    def test_step(self, *arguments: object) -> dict[str, Tensor]:
        """Checks the features of a batch, and runs a step of `evaluate`."""
        self._check_batch(arguments[-1])
        metrics: dict[str, Tensor] = super().test_step(*arguments)
        return metrics

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
            features = join_labels(self.loss, x or {}, y, sample_weight)
            # Keras always passes the outputs, although the default of `y_pred`
            # is None.
            loss, _ = self.loss(cast("Outputs", y_pred), features)
            return loss
        keras_loss: Tensor = super().compute_loss(
            x, y, y_pred, sample_weight, training
        )
        return keras_loss

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
            features = join_labels(self.loss, x, y, sample_weight)
            labels, weights = labels_and_weights(self.loss, features)
        elif isinstance(y, Mapping) and isinstance(y_pred, Mapping):
            # Keras would need labels even of outputs without metrics.
            labels = {name: y.get(name) for name in y_pred}
            if isinstance(sample_weight, Mapping):
                weights = {name: sample_weight.get(name) for name in y_pred}
        metrics: dict[str, Tensor] = super().compute_metrics(
            x, labels, y_pred, weights
        )
        return metrics
