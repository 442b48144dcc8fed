"""Writes SavedModels, with several signatures."""

from collections.abc import Callable
from pathlib import Path

import tensorflow as tf

from modeling.accelerated import inference, tracing
from modeling.base_model import FeaturesModel
from serving.exporting.export_options import ExportOptions
from serving.exporting.signatures import tokenize_graph
from serving.exporting.signatures.batches import Tensors
from serving.exporting.signatures.export_signatures import (
    Endpoints,
    ExportHead,
    create_ids_endpoint,
)


def write_saved_model(
    path: Path, model: FeaturesModel, head: ExportHead, options: ExportOptions
) -> None:
    """Writes the file saved_model.pb, and the weights beside it.

    Args:
        path: path of the file to write.
        model: model whose network and weights the file contains.
        head: head of the export, all of whose signatures the file contains.
        options: `tokenizer` and `max_seq_length` apply.

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
    endpoints = _create_endpoints(model, head, options)
    traced: dict[
        Callable[..., Tensors], tf.types.experimental.ConcreteFunction
    ] = {}
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
    tf.saved_model.save(module, str(path.parent), signatures)


def _create_endpoints(
    model: FeaturesModel, head: ExportHead, options: ExportOptions
) -> Endpoints:
    """Returns the endpoints of all signatures.

    The default is the main task's, or `ids` without a tokenizer.
    """
    endpoints = {"ids": create_ids_endpoint(head.predict, model)}
    main = "ids"
    if head.endpoints:
        main = next(iter(head.endpoints))
        endpoints |= head.endpoints
        endpoints |= tokenize_graph.create_endpoints(options.packing)
    return endpoints | {"serving_default": endpoints[main]}
