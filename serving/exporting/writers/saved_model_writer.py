"""Writes SavedModels, with several signatures."""

from collections.abc import Callable
from pathlib import Path

import tensorflow as tf

from modeling.accelerated import inference, tracing
from modeling.base_model import BaseModel
from serving.export_options import ExportOptions
from serving.exporting.signatures.batches import Tensors
from serving.exporting.signatures.export_signatures import (
    ExportSignatures,
    Signatures,
    create_ids_signature,
)
from serving.exporting.signatures.tokenize_graph import (
    create_tokenize_signature,
)


def write_saved_model(
    path: Path,
    model: BaseModel,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> None:
    """Writes the file saved_model.pb, and the weights beside it.

    Args:
        path: path of the file to write.
        model: model whose network and weights the file contains.
        signatures: signatures of the export, all of which the file contains.
        options: `tokenizer` and `max_seq_length` apply.

    Raises:
        OSError: a file cannot be written.
    """
    # Save with TensorFlow, because keras.export traces each function twice.
    module = tf.Module()
    graphs = {}
    # In mixed precision, store the kernels in 16 bits.
    kernels = [
        (kernel, tf.Variable(tf.cast(kernel.value, dtype)))
        for kernel, dtype in inference.kernels_to_cast(model)
    ]
    listed = _list_signatures(model, signatures, options)
    traced: dict[
        Callable[..., Tensors], tf.types.experimental.ConcreteFunction
    ] = {}
    with tracing.replaced_values(kernels):
        for name, (function, specs) in listed.items():
            if function not in traced:
                graph = tf.function(function, specs, autograph=False)
                traced[function] = graph.get_concrete_function()
            graphs[name] = traced[function]
    # A SavedModel contains the variables that its module refers to.
    used = {
        id(variable): variable
        for function in traced.values()
        for variable in function.graph.variables
    }
    module.weights = [*used.values()]
    tf.saved_model.save(module, str(path.parent), graphs)


def _list_signatures(
    model: BaseModel,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> Signatures:
    """Returns all signatures.

    The default is that of the main task, or `ids` without a tokenizer.
    """
    listed = {"ids": create_ids_signature(signatures.predict, model)}
    main = "ids"
    if signatures.text_signatures:
        main = next(iter(signatures.text_signatures))
        listed |= signatures.text_signatures
        listed["tokenize"] = create_tokenize_signature(options.packing)
    return listed | {"serving_default": listed[main]}
