"""A segmenter's words reach every path of text, and only if it is named."""

import json
import pickle

import pytest

import modeling
import serving
from data.squad.windows import tokenize_with_spans
from data.text.tokenization import FullTokenizer
from serving.server.limits import Limits
from serving.server.worker import Version
from tests.script_runner import SAMPLES
from tests.serving.conftest import create_model
from training import model_folder, run_folder

NAME = "tests.serving.test_segmenter:split_to_fours"
TEXT = "theboatleft town"
WORDS = ["theb", "oatl", "eft", "town"]


def split_to_fours(text):
    """A segmenter for tests: four characters are a word."""
    return [
        word[i : i + 4] for word in text.split() for i in range(0, len(word), 4)
    ]


def lower(text):
    """A segmenter for tests that changes what it splits."""
    return text.lower().split()


def create_tokenizer(segmenter=NAME):
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    tokenizer.segmenter = segmenter
    return tokenizer


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """Folder of a tagger that was trained with the segmenter."""
    labels = ["O", "B-A", "I-A"]
    model = create_model(modeling.BertTokenClassifier, len(labels))
    path = tmp_path_factory.mktemp("segmenter") / "export"
    options = serving.ServingOptions(create_tokenizer(), 32)
    serving.export_token_classifier(path, model, labels, options)
    return path


def test_texts_are_cut_at_the_words():
    tokenizer, plain = create_tokenizer(), create_tokenizer(None)
    expected = [piece for word in WORDS for piece in plain.tokenize(word)]
    assert tokenizer.tokenize(TEXT) == expected != plain.tokenize(TEXT)
    assert tokenizer.tokenize_beginning(TEXT, 99) == expected
    tokens, spans = tokenize_with_spans(TEXT, tokenizer)
    assert tokens == expected
    assert {0, 4, 8, 12} <= {start for start, _ in spans}
    assert pickle.loads(pickle.dumps(tokenizer)).tokenize(TEXT) == expected
    tokenizer = create_tokenizer(NAME.replace("split_to_fours", "lower"))
    with pytest.raises(
        ValueError, match="must change only white space. For 'Ab' it .*'ab'"
    ):
        tokenizer.tokenize("Ab")


def test_an_export_answers_only_with_the_segmenter(export):
    with pytest.raises(ValueError, match=f"trained with --segmenter={NAME}"):
        serving.load(export)
    with pytest.raises(ValueError, match="Received: --segmenter=os:system"):
        serving.load(export, segmenter="os:system")
    model = serving.load(export, segmenter=NAME)
    assert model.tag(TEXT)["words"] == WORDS
    # No graph can call it.
    assert model.tasks == ["tag", "tokenize"]
    described = json.loads((export / "assets.extra/model.json").read_text())
    assert described["task"]["segmenter"] == NAME
    version = Version(export, Limits(segmenter=NAME))
    assert version.description.tasks[0] == "tag"


def test_another_segmenter_is_refused(tmp_path):
    tokenizer = create_tokenizer()
    config = modeling.BertConfig(len(tokenizer.tokens))
    description = {
        "version": model_folder.VERSION,
        "task": {},
        "origin": {"settings": {"tokenizer": tokenizer.identity}},
    }
    run_folder.write(tmp_path, description, config, tokenizer, None)
    check = model_folder.read(tmp_path).check_identity
    check(config, tokenizer)
    plain = FullTokenizer(tmp_path / "vocab.txt")
    with pytest.raises(ValueError, match="tokenizer.segmenter=tests.*None"):
        check(config, plain)
