"""Working memory of the tokenizer in a graph, on texts meant to break it."""

import sys

import pytest

from tests.support import graph_memory
from tests.support.paths import SAMPLES

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of memory is read from /proc"
)
VOCAB = SAMPLES / "vocab.txt"
MAX_BYTES = 100  # bytes of memory for each byte of text


@pytest.mark.slow
def test_memory_grows_with_the_bytes():
    lines = graph_memory.measure_shapes(
        VOCAB, "", 400_000, graph_memory.TOKENIZER_SHAPES
    )
    bytes_per_byte = {
        line["shape"]: (line["memory"] - graph_memory.BASE) / line["bytes"]
        for line in lines
    }
    assert len(bytes_per_byte) == len(graph_memory.TOKENIZER_SHAPES)
    too_large = {
        shape: number
        for shape, number in bytes_per_byte.items()
        if number > MAX_BYTES
    }
    assert too_large == {}
