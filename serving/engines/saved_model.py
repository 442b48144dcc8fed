"""Runs SavedModels with TensorFlow.

A SavedModel is a program, which may read and write the user's files.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

import tensorflow as tf

from data.arrays import IntArray
from dependencies.installation import with_command_names
from files.paths import literal_path
from serving.engines.batching import OutputArrays
from serving.engines.engine import (
    Engine,
    explain_engine_errors,
    explain_load_errors,
)


class SavedModel(Engine):
    """Runs SavedModels in TensorFlow.

    `num_threads` is the number of threads per operation, for all models of the
    process. If it is None, TensorFlow chooses.

    Raises:
        RuntimeError: TensorFlow has started with another number of threads.
    """

    name = "saved_model"

    def __init__(self, path: Path, num_threads: int | None = None) -> None:
        if num_threads:
            tf.config.threading.set_intra_op_parallelism_threads(num_threads)
        with explain_load_errors(path):
            with literal_path(path.parent) as name:
                # Keep a reference to the model, because it owns the variables.
                self._loaded = tf.saved_model.load(name)
            _check_signatures(self._loaded.signatures, path.parent)
            self._serve = self._loaded.signatures["ids"]
            specs = self._serve.structured_input_signature[1]
            inputs = {name: tuple(spec.shape) for name, spec in specs.items()}
        super().__init__(inputs)

    def _compute(self, features: Mapping[str, IntArray]) -> OutputArrays:
        with explain_engine_errors():
            inputs = {
                name: tf.constant(values) for name, values in features.items()
            }
            outputs = self._serve(**inputs)
            return {name: value.numpy() for name, value in outputs.items()}


def _check_signatures(signatures: Collection[str], folder: Path) -> None:
    """Raises an OSError if the signature `ids` is missing."""
    if "ids" not in signatures:
        raise OSError(
            f"{folder} has no signature `ids`, so another program wrote it, "
            "such as `model.export` of Keras. Export the model with "
            "exporting.export, or its weights with "
            f"{with_command_names('python -m tools.export')}"
        )


def has_gpu() -> bool:
    """Returns whether TensorFlow can use a GPU of this machine."""
    return bool(tf.config.list_physical_devices("GPU"))
