"""What a head of labels adds to an ONNX graph, without a network.

test_onnx_heads.py compares the outputs with the models'.
"""

import pytest

from tests.support.models import tiny_config

pytest.importorskip("onnx", reason="needs requirements/onnx.txt")

from exporting.onnx_graph import EncoderOutputNames, GraphBuilder
from exporting.onnx_heads import EncoderGraph, GraphOutput

ROWS = ["batch_size"]


@pytest.mark.parametrize(
    ("exported_output", "outputs", "operations"),
    [
        ("logits", {}, []),
        (
            "classification",
            {"probabilities": ("Softmax_0", [*ROWS, 3])},
            ["Softmax"],
        ),
        (
            "multilabel",
            {"probabilities": ("Sigmoid_0", [*ROWS, 3])},
            ["Sigmoid"],
        ),
        ("regression", {"values": ("Gather_0", ROWS)}, ["Gather"]),
    ],
)
def test_a_head_of_labels_adds_what_is_computed_from_its_logits(
    exported_output, outputs, operations
):
    graph = EncoderGraph(
        builder=GraphBuilder(tiny_config()),
        encoded=EncoderOutputNames(sequence="sequence", pooled="pooled"),
        shape=[*ROWS, "sequence_length"],
        exported_output=exported_output,
    )
    added = graph.add_label_outputs("some_logits", [*ROWS, 3])
    logits = GraphOutput("some_logits", [*ROWS, 3])
    assert added == {"logits": logits} | outputs
    assert [node.op_type for node in graph.builder.nodes] == operations
