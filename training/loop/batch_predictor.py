"""Predicts with a model, batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
from absl import logging

from data.arrays import Batch
from modeling.accelerated.inference import GraphPredictor
from modeling.base_model import BaseModel
from modeling.features import select_features
from modeling.tensors import Features
from terminal import progress

# A function (outputs, features) -> tensors to yield instead of the outputs.
ComputeTensors: TypeAlias = Callable[[object, Features], object]


class BatchPredictor:
    """Runs a model on batches, and returns NumPy arrays.

    Args:
        model: any model of this package, already built.
        jit_compile: whether XLA compiles the network.
    """

    def __init__(self, model: BaseModel, *, jit_compile: bool) -> None:
        self.model = model
        self._predictor = GraphPredictor(model, jit_compile=jit_compile)
        self._forward = tf.function(
            self._predictor,
            jit_compile=jit_compile or None,
            reduce_retracing=True,
            autograph=False,
        )
        # {metrics: its graph}, so that later evaluations reuse the graph.
        self._graph_of_metrics: dict[
            ComputeTensors, tf.types.experimental.PolymorphicFunction
        ] = {}

    # Any, because only a task knows what its model returns.
    def predict(
        self,
        dataset: Iterable[Features],
        num_batches: int | None = None,
        description: str = "Predicting",
        metrics: ComputeTensors | None = None,
    ) -> Iterator[Batch[Any]]:
        """Yields (features, outputs) of each batch as NumPy arrays.

        Logs one error if any output is NaN.

        Args:
            dataset: batches of features.
            num_batches: number of batches, for the progress bar.
            description: text of the progress bar.
            metrics: function (outputs, features) -> tensors, which runs on the
                device. If set, its results are yielded instead of the outputs.
                Pass the same function to each call, because a new function is
                traced again.
        """
        inputs_of: Callable[[Features], Features] = self._inputs
        forward = self._forward
        if metrics:
            inputs_of = dict
            forward = self._graph_of(metrics)
        # Cast the kernels once, not for every batch.
        kernels = self._predictor.cast_kernels()
        if isinstance(dataset, tf.data.Dataset):
            # Trace once for all shapes. Otherwise TensorFlow would trace for
            # the first batch, and again for the next length or batch size.
            forward.get_concrete_function(
                inputs_of(dataset.element_spec), kernels
            )
        has_warned = False
        batches = progress.track(dataset, num_batches, "batch", description)
        for batch_number, features in enumerate(batches, start=1):
            outputs = tf.nest.map_structure(
                np.asarray, forward(inputs_of(features), kernels)
            )
            if not has_warned and _has_nan(outputs):
                has_warned = True
                logging.error(
                    "The model's outputs are NaN from batch %d on, so the "
                    "results are useless. The training failed, or values "
                    "overflow in the data type that --mixed_precision selects.",
                    batch_number,
                )
            yield tf.nest.map_structure(np.asarray, features), outputs

    def _graph_of(
        self, metrics: ComputeTensors
    ) -> tf.types.experimental.PolymorphicFunction:
        """Returns the graph of the network and of the metrics."""
        if metrics not in self._graph_of_metrics:

            @tf.function(reduce_retracing=True, autograph=False)
            def forward(
                features: Features, kernels: Sequence[tf.Tensor]
            ) -> object:
                return metrics(self._predictor(features, kernels), features)

            self._graph_of_metrics[metrics] = forward
        return self._graph_of_metrics[metrics]

    def _inputs(self, features: Features) -> Features:
        """Returns the features that the model reads, without strings (guids).

        They contain no labels, so that sets with and without labels use one
        graph.
        """
        return {
            name: value
            for name, value in select_features(self.model, features).items()
            if value.dtype != tf.string
        }


def _has_nan(outputs: object) -> bool:
    # The NumPy kind of bfloat16 is "V".
    return any(
        array.dtype.kind in "fV" and np.isnan(array).any()
        for array in tf.nest.flatten(outputs)
    )
