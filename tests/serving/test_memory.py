"""Working memory of exports over text, on texts meant to break them."""

import sys

import keras
import numpy as np
import pytest

import modeling
from data.squad.decoding import DecodingOptions
from data.squad.windows import WindowOptions
from serving import classifier, features, ner, pretraining, squad
from serving.signatures import ServingOptions
from tests import memory
from tests.serving.conftest import TAGS, TOKENIZER

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


def create_config():
    return modeling.BertConfig(
        vocab_size=len(TOKENIZER.tokens),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=384,
    )


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """A folder of exports, each made when it is first asked for."""
    return tmp_path_factory.mktemp("exports")


def export(folder, name):
    """Returns the path of an export of a tiny model; makes it once."""
    path = folder / name
    if path.exists():
        return path
    keras.utils.set_random_seed(1)
    config, options = create_config(), ServingOptions(TOKENIZER)
    if name == "squad":
        model = modeling.BertSpanLabeler(config)
        model.build()
        windows, decoding = WindowOptions(384, 128, 64), DecodingOptions()
        squad.export_span_labeler(path, model, TOKENIZER, windows, decoding)
    elif name == "ner":
        model = modeling.BertTokenClassifier(config, len(TAGS))
        model.build()
        ner.export_token_classifier(path, model, TAGS, options)
    elif name == "classifier":
        model = modeling.BertClassifier(config, 2)
        model.build()
        classifier.export_classifier(path, model, ["no", "yes"], options)
    elif name == "features":
        model = modeling.BertModel(config)
        model.build()
        features.export_encoder(path, model, options)
    else:
        model = modeling.BertPretrainer(config)
        model.build()
        pretraining.export_pretrainer(path, model, options)
    return path


@pytest.mark.soak
@pytest.mark.parametrize("shape", memory.TOKENIZER_SHAPES)
@pytest.mark.parametrize("name, signature", SIGNATURES)
def test_memory_grows_with_the_bytes(exports, name, signature, shape):
    """Measures the growth: a batch in the network takes memory of its own."""
    path, found = export(exports, name), []
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
