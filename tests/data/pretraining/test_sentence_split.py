"""Sentences of text that has several in a line."""

import sys

import pytest

from data.pretraining.sentence_split import create_splitter
from tests.support.shards import create_shards


@pytest.mark.parametrize("language", ["en", "als", "zh-yue"])
def test_texts_are_split_into_sentences(tmp_path, language):
    pytest.importorskip("sentencex")
    corpus = "Dr. Smith went. He slept! Did he?\n\nOne. Two.\n"
    manifest = create_shards(tmp_path, corpus, sentence_split=language)
    if language == "en":
        assert manifest["corpus"]["num_sentences"] == 5


@pytest.mark.parametrize(
    ("language", "word"), [("en", "sentencex"), ("xx", "=xx"), ("", "code")]
)
def test_a_wrong_language_or_a_missing_library_is_named(
    monkeypatch, language, word
):
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(ValueError, match=word):
        create_splitter(language)
