"""Working memory of exports over text, on texts meant to break them."""

import sys

import numpy as np
import pytest

from data.squad.windows import WindowOptions
from serving.signatures import ServingOptions
from tests import memory
from tests.serving import conftest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of memory is read from /proc"
)
MOST = 100  # bytes of memory for each byte of text
SIGNATURES = [
    ("squad", "answer"),
    ("ner", "tag"),
    ("ner", "tag_words"),
    ("pretraining", "fill_mask"),
    ("classifier", "classify"),
    ("features", "embed"),
    ("features", "tokenize"),
]


@pytest.fixture(scope="module")
def long_exports(tmp_path_factory):
    """A folder of exports, each made when it is first asked for."""
    return tmp_path_factory.mktemp("long_exports")


@pytest.mark.soak
@pytest.mark.parametrize("shape", memory.TOKENIZER_SHAPES)
@pytest.mark.parametrize("name, signature", SIGNATURES)
def test_memory_grows_with_the_bytes(long_exports, name, signature, shape):
    """Measures the growth: a batch in the network takes memory of its own."""
    path, found = long_exports / name, []
    if not path.exists():
        options, windows = ServingOptions(conftest.TOKENIZER), WindowOptions()
        conftest.export(name, path, options, windows, max_length=384)
    sizes = [100_000, 400_000, 1_000_000]
    if signature == "embed":
        # Padding up to 256 MB is allowed; then it is refused.
        sizes = [1_000_000, 2_000_000, 4_000_000]
    for size in sizes:
        # Each in a process of its own: what an earlier one freed hides some.
        found += memory.measure_lines(path, signature, size, [shape])
    growth = np.diff([line["memory"] for line in found]) / np.diff(
        [line["bytes"] for line in found]
    )
    print(signature, shape, growth)
    assert max(growth) <= MOST
