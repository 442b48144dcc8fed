"""Runs SavedModels with TensorFlow.

A SavedModel is a program, which may read and write the user's files.
"""

import functools
import os
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from files.paths import literal_name
from serving import engines


class SavedModel:
    """Implements Engine with TensorFlow.

    Args:
        path: folder of a SavedModel.
        num_threads: number of threads per operation, for all models of the
            process. None lets TensorFlow choose.

    Raises:
        OSError: the SavedModel cannot be loaded.
        RuntimeError: TensorFlow has started with another number of threads.
    """

    name = "saved_model"
    is_row_wise = False

    def __init__(
        self, path: str | os.PathLike[str], num_threads: int | None = None
    ) -> None:
        if num_threads:
            tf.config.threading.set_intra_op_parallelism_threads(num_threads)
        with literal_name(path) as name:
            try:
                # Keep a reference to the model, because the model owns the
                # variables.
                self._loaded = tf.saved_model.load(name)
                self._serve = self._loaded.signatures["ids"]
            except Exception as error:
                # TensorFlow may raise any exception for a damaged file.
                reason = str(error).replace(name, os.fspath(path))
                raise engines.damaged(path, reason) from error

    @functools.cached_property
    def inputs(self) -> dict[str, tuple[int | None, ...]]:
        """Shapes of the inputs, None for a variable size."""
        specs = self._serve.structured_input_signature[1]
        return {name: tuple(spec.shape) for name, spec in specs.items()}

    def run(self, features: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Calls the signature `ids`. Thread-safe.

        Raises:
            ValueError: the signature fails on the inputs.
        """
        specs = self._serve.structured_input_signature[1]
        inputs = {
            k: tf.constant(v, specs[k].dtype) for k, v in features.items()
        }
        try:
            outputs = self._serve(**inputs)
            return {name: value.numpy() for name, value in outputs.items()}
        except (tf.errors.OpError, MemoryError) as error:
            # Omit TensorFlow's traceback: the usual cause is a lack of memory.
            raise engines.failure(error) from None

    @functools.cached_property
    def precision(self) -> str:
        """Numeric type of the matrix products, such as "float32"."""
        graph = self._serve.graph.as_graph_def()
        kinds = {
            node.attr["T"].type
            for function in graph.library.function
            for node in function.node_def
            if node.op == "MatMul"
        }
        for kind in (tf.bfloat16, tf.float16):
            if kind.as_datatype_enum in kinds:
                return kind.name
        return "float32"


def finds_gpu() -> bool:
    """Returns whether TensorFlow can use a GPU of this machine."""
    return bool(tf.config.list_physical_devices("GPU"))
