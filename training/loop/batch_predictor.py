"""Predicts with a model, batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import tensorflow as tf
from absl import logging

from data.arrays import Batch, FloatArray, OutputsT
from modeling.accelerated.prediction import GraphPredictor
from modeling.base_model import BaseModel
from modeling.features import select_features
from modeling.tensors import Features
from terminal import progress

# What a function of `BatchPredictor.compute_metrics` returns: tensors, and then
# NumPy arrays in the same structure.
MetricsT = TypeVar("MetricsT", bound="FloatArray | Mapping[str, object]")
# A function (features, kernels) -> tensors, as a graph.
_Graph: TypeAlias = tf.types.experimental.PolymorphicFunction


class BatchPredictor(Generic[OutputsT]):
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
        self._graph_of_metrics: dict[Callable[..., object], _Graph] = {}

    def predict(
        self,
        dataset: Iterable[Features],
        num_batches: int | None = None,
        description: str = "Predicting",
    ) -> Iterator[Batch[OutputsT]]:
        """Yields (features, outputs) of each batch as NumPy arrays.

        Logs one error if any output is NaN.

        Args:
            dataset: batches of features.
            num_batches: number of batches, for the progress bar.
            description: text of the progress bar.
        """
        return self._run(
            self._forward,
            self._inputs,
            dataset,
            num_batches=num_batches,
            description=description,
        )

    def compute_metrics(
        self,
        dataset: Iterable[Features],
        metrics: Callable[[OutputsT, Features], MetricsT],
        description: str = "Evaluating",
    ) -> Iterator[Batch[MetricsT]]:
        """Yields (features, metrics) of each batch as NumPy arrays.

        Logs one error if any metric is NaN.

        Args:
            dataset: batches of features.
            metrics: function (outputs, features) -> tensors, which runs on the
                device. Pass the same function to each call, because a new
                function is traced again.
            description: text of the progress bar.
        """
        return self._run(
            self._graph_of(metrics),
            dict,
            dataset,
            num_batches=None,
            description=description,
        )

    # Any, because only a caller knows what its graph returns.
    def _run(
        self,
        graph: _Graph,
        inputs_of: Callable[[Features], Features],
        dataset: Iterable[Features],
        *,
        num_batches: int | None,
        description: str,
    ) -> Iterator[Batch[Any]]:
        """Yields (features, results of a graph) of each batch.

        `inputs_of` selects the features that the graph reads. The progress bar
        shows `description`, and a total if `num_batches` is known.
        """
        # Cast the kernels once, not for every batch.
        kernels = self._predictor.cast_kernels()
        if isinstance(dataset, tf.data.Dataset):
            # Trace once for all shapes. Otherwise TensorFlow would trace for
            # the first batch, and again for the next length or batch size.
            graph.get_concrete_function(
                inputs_of(dataset.element_spec), kernels
            )
        has_warned = False
        batches = progress.track(dataset, num_batches, "batch", description)
        for batch_number, features in enumerate(batches, start=1):
            results = tf.nest.map_structure(
                np.asarray, graph(inputs_of(features), kernels)
            )
            if not has_warned and _has_nan(results):
                has_warned = True
                logging.error(
                    "The model's outputs are NaN from batch %d on, so the "
                    "results are useless. The training failed, or values "
                    "overflow in the data type that --mixed_precision selects.",
                    batch_number,
                )
            yield tf.nest.map_structure(np.asarray, features), results

    def _graph_of(
        self, metrics: Callable[[OutputsT, Features], MetricsT]
    ) -> _Graph:
        """Returns the graph of the network and of the metrics."""
        if metrics not in self._graph_of_metrics:

            @tf.function(reduce_retracing=True, autograph=False)
            def forward(
                features: Features, kernels: Sequence[tf.Tensor]
            ) -> object:
                # Any, because a BaseModel does not say what it returns.
                outputs: Any = self._predictor(features, kernels)
                return metrics(outputs, features)

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
