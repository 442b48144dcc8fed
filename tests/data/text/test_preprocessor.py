"""Texts in any container become features, and other values are refused."""

import numpy as np
import pytest
import tensorflow as tf

import modeling
from data import text as data_text
from data.text import BertTextClassifierPreprocessor
from serving.text_tasks.loaded_export import LoadedExport
from serving.text_tasks.tokenize import TOKENIZE
from tests.support import fresh_process
from tests.support.tokenizers.preprocessor_cases import (
    NAMES,
    SECONDS,
    TEXTS,
    assert_same,
    expected,
)
from tests.support.tokenizers.tokenizer_cases import random_strings

# {name of a container: function that puts a list of texts into it}
CONTAINERS = {
    "list": lambda texts: texts,
    "bytes": lambda texts: [text.encode() for text in texts],
    "array": np.array,
    "objects": lambda texts: np.array(texts, object),
    "column": lambda texts: tf.constant(texts)[:, None],
    "tensor": tf.constant,
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_texts_in_any_container_become_the_same_features(
    kind, preprocessor, sample_tokenizer
):
    texts = CONTAINERS[kind](TEXTS)
    assert_same(preprocessor(texts), expected(sample_tokenizer, TEXTS))


@pytest.mark.parametrize("kind", CONTAINERS)
def test_pairs_in_any_container_become_the_same_features(
    kind, preprocessor, sample_tokenizer
):
    pair = (CONTAINERS[kind](TEXTS), CONTAINERS[kind](SECONDS))
    assert_same(preprocessor(pair), expected(sample_tokenizer, TEXTS, SECONDS))


def test_one_text_becomes_a_batch_of_one(preprocessor, sample_tokenizer):
    assert_same(preprocessor(TEXTS[0]), expected(sample_tokenizer, TEXTS[0]))


def test_one_pair_becomes_a_batch_of_one(preprocessor, sample_tokenizer):
    pairs = expected(sample_tokenizer, TEXTS, SECONDS)
    first_pair = {name: values[:1] for name, values in pairs.items()}
    assert_same(preprocessor((TEXTS[0], SECONDS[0])), first_pair)


def test_wordpieces_are_those_that_predict_shows(sample_tokenizer):
    """predict.py --task=tokenize shows the same WordPieces of nasty texts."""
    preprocessor = BertTextClassifierPreprocessor(sample_tokenizer, 24)
    loaded_export = LoadedExport(
        engine=None,  # The task runs no network.
        tokenizer=sample_tokenizer,
        max_seq_length=24,
        head=None,
    )
    texts, seconds = (random_strings(1500, seed=seed) for seed in (7, 8))
    actual = preprocessor((texts, seconds))
    ids, mask = (np.array(actual[name]) for name in NAMES[:2])
    for row, (first, second) in enumerate(zip(texts, seconds, strict=True)):
        request = {"text_a": first, "text_b": second}
        _, reply = TOKENIZE.encode(loaded_export, request)
        real = ids[row][mask[row] > 0]
        assert sample_tokenizer.convert_ids_to_tokens(real) == reply["tokens"]


@pytest.mark.parametrize("length", [3, 5, 8, 40])
def test_a_waterfall_cuts_the_second_text_first(length, sample_tokenizer):
    first, second = map(sample_tokenizer.tokenize, TEXTS[:2])
    preprocessor = BertTextClassifierPreprocessor(
        sample_tokenizer, length, truncate="waterfall"
    )
    ids = preprocessor((TEXTS[0], TEXTS[1]))["input_ids"][0].numpy()
    first = first[: length - 3]
    tokens = ["[CLS]", *first, "[SEP]"]
    tokens += [*second[: length - 3 - len(first)], "[SEP]"]
    words = sample_tokenizer.convert_ids_to_tokens(ids)
    assert words[: len(tokens)] == tokens


def test_an_unknown_way_to_truncate_is_refused(sample_tokenizer):
    with pytest.raises(ValueError, match="'round_robin' or 'waterfall'"):
        BertTextClassifierPreprocessor(sample_tokenizer, truncate="first")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (tf.data.Dataset.from_tensor_slices(TEXTS), "use dataset.map"),
        ({"a": TEXTS, "b": SECONDS}, r"Pass the texts .* pair as"),
        (np.arange(3), "must be strings"),
        (tf.range(3), "received int32"),
        (["a", None], "received NoneType"),
        (tf.constant([["a", "b"]]), "a pair as a tuple"),
        ([["a", "b"]], "received list.*as two lists"),
        (np.array([["a", "b"]]), "as two lists"),
    ],
)
def test_a_value_that_is_neither_text_nor_pair_is_refused(
    preprocessor, texts, message
):
    with pytest.raises(TypeError, match=message) as caught:
        preprocessor(texts)
    # The caller knows the name of the layer. The error names the value.
    assert "BertTextClassifierPreprocessor" not in str(caught.value)


def test_features_instead_of_texts_are_refused(preprocessor):
    with pytest.raises(TypeError, match=r"received dict .*'input_ids'"):
        preprocessor(preprocessor(TEXTS))


def test_a_pair_has_as_many_second_texts(preprocessor):
    with pytest.raises(ValueError, match=r"differ in shape: \(3,\) and \(2,\)"):
        preprocessor((TEXTS, SECONDS[:2]))


def test_a_tuple_is_a_pair(preprocessor):
    with pytest.raises(ValueError, match="received 3 elements"):
        preprocessor(tuple(TEXTS))


@pytest.mark.parametrize("length", [2, 0, -1, 12.5, "12", None])
def test_a_length_without_room_for_a_word_is_refused(sample_tokenizer, length):
    message = f"a whole number from 3, .*received {length!r}"
    with pytest.raises(ValueError, match=message):
        BertTextClassifierPreprocessor(sample_tokenizer, length)


@pytest.mark.parametrize("tokenizer", ["vocab.txt", None, modeling])
def test_a_value_that_is_not_a_tokenizer_is_refused(tokenizer):
    name = type(tokenizer).__name__
    message = f"must be a FullTokenizer; received {name}. .*from_preset"
    with pytest.raises(TypeError, match=message):
        BertTextClassifierPreprocessor(tokenizer)


def test_many_texts_are_tokenized_in_parts(preprocessor):
    """A part contains at most 4096 of the 5000 texts."""
    texts = random_strings(50, seed=9)
    features = preprocessor((texts, texts[::-1]))
    repeated = {
        name: np.tile(values, (100, 1)) for name, values in features.items()
    }
    assert_same(preprocessor((texts * 100, texts[::-1] * 100)), repeated)


def test_importing_the_package_imports_no_large_library():
    code = "import sys, data.text; print({'keras', 'tensorflow', 'numpy'} & "
    code += "{*sys.modules})"
    assert fresh_process.run("-c", code).check().stdout.strip() == "set()"
    assert "BertTextClassifierPreprocessor" in data_text.__all__
