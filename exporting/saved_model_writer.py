"""Writes SavedModels, with several signatures."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import tensorflow as tf

from exporting.common_signatures import (
    create_ids_signature,
    create_tokenize_signature,
)
from exporting.export_options import ExportOptions
from exporting.signatures import ExportSignatures, Signatures, Tensors
from modeling.accelerated.graphs import replaced_values
from modeling.accelerated.prediction import kernels_to_cast
from modeling.base_model import BaseModel

_Graph: TypeAlias = tf.types.experimental.ConcreteFunction


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
    """
    all_signatures = _list_signatures(model, signatures, options)
    # In mixed precision, store the kernels in 16 bits. The graphs refer weakly
    # to these variables, so this list must live until the model is saved.
    kernels = [
        (kernel, tf.Variable(tf.cast(kernel.value, dtype)))
        for kernel, dtype in kernels_to_cast(model)
    ]
    with replaced_values(kernels):
        graphs = _trace_signatures(all_signatures)
    # Save with TensorFlow, because keras.export traces each function twice.
    module = tf.Module()
    module.weights = _list_variables(graphs.values())
    tf.saved_model.save(module, str(path.parent), graphs)


def _trace_signatures(signatures: Signatures) -> dict[str, _Graph]:
    """Returns {name of a signature: its graph}.

    Signatures of the same function share a graph.
    """
    graph_of_function: dict[Callable[..., Tensors], _Graph] = {}
    for function, specs in signatures.values():
        if function not in graph_of_function:
            traced = tf.function(function, specs, autograph=False)
            graph_of_function[function] = traced.get_concrete_function()
    return {
        name: graph_of_function[function]
        for name, (function, _) in signatures.items()
    }


def _list_variables(graphs: Iterable[_Graph]) -> list[tf.Variable]:
    """Returns the variables of graphs, each once.

    A SavedModel contains the variables that its module refers to.
    """
    variables = {
        id(variable): variable
        for concrete in graphs
        for variable in concrete.graph.variables
    }
    return [*variables.values()]


def _list_signatures(
    model: BaseModel,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> Signatures:
    """Returns all signatures.

    The default signature belongs to the main text task. Without a tokenizer, it
    is `ids`.
    """
    all_signatures = {"ids": create_ids_signature(signatures.predict, model)}
    main = "ids"
    if signatures.text_signatures:
        main = next(iter(signatures.text_signatures))
        all_signatures |= signatures.text_signatures
        all_signatures["tokenize"] = create_tokenize_signature(options.packing)
    return all_signatures | {"serving_default": all_signatures[main]}
