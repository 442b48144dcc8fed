"""ONNX exports in onnx's own evaluator, which computes by the standard.

ONNX Runtime accepts more than the standard allows. Other runtimes do not.
"""

import numpy as np
import pytest

import exporting
import modeling
from exporting import export_formats
from tests.support.models import create_batch
from tests.support.serving.engines import sums_int8_in_16_bits
from tests.support.serving.exports import (
    HEADS,
    LENGTH,
    create_model,
    create_options,
)

onnx = pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
onnxruntime = pytest.importorskip("onnxruntime")
reference = pytest.importorskip("onnx.reference")

BATCH = create_batch([LENGTH, 7, 12], LENGTH)
# The evaluator ignores the lengths of an LSTM's rows, so it needs rows without
# padding.
FULL = create_batch([LENGTH, LENGTH], LENGTH)
# {name: (class of the model, settings of its export, options of the network)}
NETWORKS = {
    **{name: (*head, {}) for name, head in HEADS.items()},
    "regression": (
        modeling.BertClassifier,
        {"labels": None, "output_mode": "regression"},
        {},
    ),
    "multilabel": (
        modeling.BertClassifier,
        {"labels": ["no", "yes"], "output_mode": "multilabel"},
        {},
    ),
    "left to right": (*HEADS["pretraining"], {"left_to_right": True}),
    "bilstm": (*HEADS["classifier"], {"bilstm": True}),
    "bilstm of words": (*HEADS["ner"], {"bilstm": True}),
}


def export_network(folder, name, **options):
    """Exports a tiny model, and returns the path of its file."""
    kind, settings, network = NETWORKS[name]
    sizes = []
    if kind in (modeling.BertClassifier, modeling.BertTokenClassifier):
        sizes = [len(settings["labels"] or "1")]
    model = create_model(kind, *sizes, **network)
    exporting.export(folder, model, settings, create_options("onnx", **options))
    return folder / export_formats.FILE_OF_FORMAT["onnx"]


def compare_outputs(path, name):
    """Compares the outputs of the evaluator and of ONNX Runtime."""
    batch = FULL if "bilstm" in name else BATCH
    if name == "multiple_choice":
        batch = {
            name: np.stack([values, values[::-1]], 1)
            for name, values in batch.items()
        }
    inputs = {
        export_formats.ONNX_NAME_OF_INPUT[key]: np.asarray(value, np.int64)
        for key, value in batch.items()
    }
    session = onnxruntime.InferenceSession(path)
    names = [output.name for output in session.get_outputs()]
    expected = session.run(names, inputs)
    result = reference.ReferenceEvaluator(str(path)).run(names, inputs)
    for output, ours, theirs in zip(names, result, expected, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(
            ours, theirs, rtol=1e-4, atol=1e-4, err_msg=output
        )


@pytest.mark.parametrize("name", NETWORKS)
def test_the_reference_of_onnx_computes_the_outputs_of_an_export(
    name, tmp_path
):
    compare_outputs(export_network(tmp_path / "model", name), name)


def test_the_reference_of_onnx_computes_an_export_of_a_fixed_length(tmp_path):
    path = export_network(tmp_path / "model", "classifier", fixed_length=LENGTH)
    compare_outputs(path, "classifier")


@pytest.mark.parametrize("name", NETWORKS)
def test_the_reference_of_onnx_computes_an_export_in_int8(name, tmp_path):
    if sums_int8_in_16_bits():
        pytest.skip("the products of ONNX Runtime saturate on this CPU")
    compare_outputs(
        export_network(tmp_path / "model", name, quantize="int8"), name
    )
