"""The formats to which each backend exports, and that docs/api.md says so.

`make test` exports one kind to one format, because each export compiles a
model anew.
"""

import re

import keras
import pytest

from tests.support.keras_operations import (
    BACKENDS,
    KINDS,
    create_compiled,
    for_each_kind,
    mark_slow_except,
    read_operations_of_page,
)
from tests.support.model_cases import assert_close, create_inputs

FORMATS = ("tf_saved_model", "litert", "torch", "onnx", "openvino")
# {backend: the formats that it exports}.
EXPORTED_FORMATS = {
    "tensorflow": ("tf_saved_model", "litert"),
    "jax": ("tf_saved_model",),
    "torch": ("torch",),
}
UNSUPPORTED_FORMATS = [
    format
    for format in FORMATS
    if format not in EXPORTED_FORMATS[keras.backend.backend()]
]
SUFFIXES = {"litert": ".tflite", "torch": ".pt2"}


def for_each_format(formats):
    """Marks a test of exports, which runs for each of these formats."""
    params = mark_slow_except(formats[0], formats)
    return pytest.mark.parametrize("format", params)


def export_fitted(kind, folder, format):
    """Exports a model as users do: trained, and not called. Returns both."""
    model, inputs, labels = create_compiled(kind)
    model.fit(inputs, labels, verbose=0)
    path = folder / f"export{SUFFIXES.get(format, '')}"
    model.export(path, format=format, verbose=False)
    return model, path


def create_smaller_inputs(kind):
    """Returns inputs of fewer and shorter rows than those of the training."""
    inputs = create_inputs(kind)
    smaller = {name: value[:2, ..., :5] for name, value in inputs.items()}
    if kind == "pretrainer":
        positions = inputs["masked_lm_positions"][:2, :3] % 5
        smaller["masked_lm_positions"] = positions
    return smaller


def call_saved_model(path, inputs):
    """Returns the outputs of a SavedModel, which takes int32 by name."""
    import tensorflow as tf

    served = tf.saved_model.load(str(path))
    signature = served.signatures["serving_default"]
    specs = signature.structured_input_signature[1]
    assert specs.keys() == inputs.keys()
    assert {spec.dtype for spec in specs.values()} == {tf.int32}
    return served.serve(
        {name: tf.constant(value) for name, value in inputs.items()}
    )


def call_litert(path, inputs):
    """Returns the outputs of a LiteRT file."""
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    runner = litert.Interpreter(str(path)).get_signature_runner()
    outputs = runner(**inputs)
    return outputs["output_0"] if [*outputs] == ["output_0"] else outputs


def call_torch(path, inputs):
    """Returns the outputs of a program of torch.export."""
    import torch

    tensors = {name: torch.as_tensor(value) for name, value in inputs.items()}
    return torch.export.load(str(path)).module()(tensors)


CALL_EXPORT = {
    "tf_saved_model": call_saved_model,
    "litert": call_litert,
    "torch": call_torch,
}


@for_each_kind(KINDS)
@for_each_format(EXPORTED_FORMATS[keras.backend.backend()])
def test_an_export_computes_what_the_model_does_at_other_sizes(
    kind, format, tmp_path
):
    model, path = export_fitted(kind, tmp_path, format)
    inputs = create_smaller_inputs(kind)
    expected = model(inputs)
    outputs = keras.tree.map_structure(
        keras.ops.convert_to_numpy, CALL_EXPORT[format](path, inputs)
    )
    if isinstance(expected, dict):
        last = [*expected][-1]
        outputs, expected = outputs[last], expected[last]
    assert_close(outputs, expected, 1e-4)


def format_error(backend):
    """Returns words of the error of a format that a backend cannot export."""
    formats = " or ".join(EXPORTED_FORMATS[backend])
    return f"exports this model as {formats}"


@for_each_kind(KINDS)
@for_each_format(UNSUPPORTED_FORMATS)
def test_an_error_names_the_formats_that_the_backend_exports(
    kind, format, tmp_path
):
    words = format_error(keras.backend.backend())
    with pytest.raises(ValueError, match=re.escape(words)):
        export_fitted(kind, tmp_path, format)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("format", FORMATS)
def test_the_page_says_what_each_backend_exports(backend, format):
    is_exported = format in EXPORTED_FORMATS[backend]
    cell = read_operations_of_page()[f"export {format}"][BACKENDS[backend]]
    assert cell == ("works" if is_exported else format_error(backend))
