"""Working memory of exports over text, on texts meant to break them."""

import sys

import numpy as np
import pytest
import tensorflow as tf

import exporting
import modeling
from data.squad.squad_options import WindowOptions
from exporting import common_signatures, embed_signatures
from tests.support import graph_memory
from tests.support.serving import exports
from tests.support.serving.exports import TOKENIZER, create_model

OPTIONS = exporting.ExportOptions(tokenizer=TOKENIZER, max_seq_length=64)


def create_encoder():
    changes = {"max_position_embeddings": 64}
    return create_model(modeling.BertModel, changes=changes)


# More than a quarter of their padded rows would be padding.
MIXED_TEXTS = ["a " * 80] + ["a"] * 20_000


def tokenize(texts):
    """Returns {name: tensor} of the signature `tokenize` for single texts."""
    ask, _ = common_signatures.create_tokenize_signature(OPTIONS.packing)
    return ask(tf.constant(texts), tf.constant([""] * len(texts)))


def test_lengths_that_differ_too_much_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="differ too much"):
        tokenize(MIXED_TEXTS)


def test_many_texts_of_one_length_are_answered():
    assert tokenize(MIXED_TEXTS[1:])["tokens"].shape == (20_000, 3)


def test_few_texts_of_any_length_are_answered():
    result = tokenize(MIXED_TEXTS[:3])
    assert result["tokens"].shape == (3, 64)
    assert result["lengths"].numpy().tolist() == [64, 3, 3]
    assert result["num_wordpieces"].numpy().tolist() == [80, 1, 1]


@pytest.fixture
def embed(monkeypatch, tmp_path):
    """Calls the signature `embed`, which allows 1,000 positions of padding."""
    # The width of the model is 16.
    monkeypatch.setattr(embed_signatures, "_MAX_PADDING", 16 * 1000)
    exporting.export(tmp_path / "model", create_encoder(), {}, OPTIONS)
    loaded = tf.saved_model.load(str(tmp_path / "model"))

    def call(texts):
        # A signature does not keep the variables alive, but `loaded` does.
        return loaded.signatures["embed"](text=tf.constant(texts))

    return call


def test_lengths_of_vectors_that_differ_too_much_are_refused(embed):
    # 21 rows of 64 are more than 1,000, and more than 4 times the 124 tokens.
    with pytest.raises(tf.errors.InvalidArgumentError, match="differ too much"):
        embed(MIXED_TEXTS[:21])


def test_vectors_with_padding_that_is_allowed_are_returned(embed):
    result = embed(MIXED_TEXTS[:15])
    num_texts, longest, _ = result["sequence_output"].shape
    assert (num_texts, longest) == (15, 64)
    assert result["lengths"].numpy().tolist() == [64] + [3] * 14


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


@pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of memory is read from /proc"
)
@pytest.mark.soak
@pytest.mark.parametrize("shape", graph_memory.TOKENIZER_SHAPES)
@pytest.mark.parametrize(("name", "signature"), SIGNATURES)
def test_memory_grows_with_the_bytes(long_exports, name, signature, shape):
    """Measures the growth: a batch in the network takes memory of its own."""
    path, result = long_exports / name, []
    if not path.exists():
        options, windows = exports.create_options(), WindowOptions()
        exports.export_model(name, path, options, windows, max_length=384)
    sizes = [100_000, 400_000, 1_000_000]
    if signature == "embed":
        # Padding up to 256 MB is allowed; then it is refused.
        sizes = [1_000_000, 2_000_000, 4_000_000]
    for size in sizes:
        # Each in a process of its own: what an earlier one freed hides some.
        result += graph_memory.measure_shapes(path, signature, size, [shape])
    growth = np.diff([line["memory"] for line in result]) / np.diff(
        [line["bytes"] for line in result]
    )
    print(signature, shape, growth)
    assert max(growth) <= MOST
