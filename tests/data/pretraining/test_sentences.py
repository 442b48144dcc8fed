"""Sentences of text that has several in a line."""

import sys

import pytest

from data.text import sentences
from tests.shards import create


def test_sentence_split(tmp_path):
    pytest.importorskip("sentencex")
    corpus = "Dr. Smith went. He slept! Did he?\n\nOne. Two.\n"
    manifest = create(tmp_path, corpus, text={"sentence_split": "en"})
    assert manifest["corpus"]["num_sentences"] == 5


def test_sentence_split_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(ValueError, match="pip install sentencex"):
        sentences.splitter("en")


@pytest.mark.parametrize("language", ["en", "de", "zh", "als", "zh-yue"])
def test_languages(language):
    sentences.check_language(language)


@pytest.mark.parametrize("language", ["", "xx", "english", "EN", "e", "de_DE"])
def test_what_is_no_language_is_refused(language):
    with pytest.raises(ValueError, match=f"^--sentence_split={language} is "):
        sentences.check_language(language)
