"""Working memory of the tokenizer in a graph, on texts meant to break it."""

import sys

import pytest

from tests import memory
from tests.script_runner import SAMPLES

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of memory is read from /proc"
)
VOCAB = SAMPLES / "vocab.txt"
MOST = 100  # bytes of memory for each byte of text


@pytest.mark.slow
def test_memory_grows_with_the_bytes():
    found = memory.measure(VOCAB, "", 400_000, memory.TOKENIZER_SHAPES)
    assert len(found) == len(memory.TOKENIZER_SHAPES)
    assert {k: v for k, v in found.items() if v > MOST} == {}


@pytest.mark.soak
@pytest.mark.parametrize("shape", memory.TOKENIZER_SHAPES)
@pytest.mark.parametrize("size", [1_000_000, 10_000_000])
def test_memory_of_10_megabytes(shape, size):
    found = memory.measure(VOCAB, "", size, [shape])
    print(shape, size, found)
    assert found[shape] <= MOST
