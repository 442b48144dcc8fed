"""Writes SavedModels, with several signatures."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

from modeling.accelerated import inference, tracing
from modeling.base_model import FeaturesModel
from serving.signatures.heads import Endpoint


def write_saved_model(
    folder: Path, model: FeaturesModel, endpoints: Mapping[str, Endpoint]
) -> None:
    """Writes a SavedModel whose signatures are the endpoints.

    Raises:
        OSError: a file cannot be written.
    """
    # Save with TensorFlow, because keras.export traces each function twice.
    module = tf.Module()
    signatures = {}
    # In mixed precision, store the kernels in 16 bits.
    kernels = [
        (kernel, tf.Variable(tf.cast(kernel.value, dtype)))
        for kernel, dtype in inference.kernels_to_cast(model)
    ]
    traced: dict[Callable[..., Any], Any] = {}
    with tracing.replaced_values(kernels):
        for name, (function, specs) in endpoints.items():
            if function not in traced:
                graph = tf.function(function, specs, autograph=False)
                traced[function] = graph.get_concrete_function()
            signatures[name] = traced[function]
    # A SavedModel contains the variables that its module refers to.
    used = {
        id(variable): variable
        for function in traced.values()
        for variable in function.graph.variables
    }
    module.weights = [*used.values()]
    tf.saved_model.save(module, str(folder), signatures)
