"""The parts of all signatures: inputs of text, and shared graphs."""

import pytest
import tensorflow as tf

from exporting import signatures
from modeling import ops


def test_the_input_of_a_text_is_a_list_of_strings():
    (spec,) = signatures.text_inputs("text")
    assert (spec.name, spec.dtype, spec.shape.as_list()) == (
        "text",
        tf.string,
        [None],
    )


@pytest.fixture
def counted():
    """(a function with a shared graph, the values of its Python calls)."""
    calls = []

    def double(values):
        calls.append(values)
        return 2 * values

    return signatures.share_graph(double), calls


def test_a_graph_is_traced_once_for_inputs_of_any_size(counted):
    double, calls = counted
    double(tf.constant([1, 2]))
    assert double(tf.constant([3])).numpy().tolist() == [6]
    assert len(calls) == 1


def test_plain_versions_share_no_graph(counted):
    double, calls = counted
    with ops.plain_versions():
        double(tf.constant([1, 2]))
        double(tf.constant([3]))
    assert [values.numpy().tolist() for values in calls] == [[1, 2], [3]]
