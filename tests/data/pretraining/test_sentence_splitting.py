"""Sentences of text that has several in a line."""

import sys

import pytest

from data.pretraining.documents import TextEncoder
from data.pretraining.pretraining_options import InstanceOptions
from tests.support.shards import create_shards

CORPUS = "Dr. Smith went. He slept! Did he?\n\nOne. Two.\n"


def count_sentences(folder, language):
    """Returns the number of sentences that a job finds in CORPUS."""
    pytest.importorskip("sentencex")
    manifest = create_shards(folder, CORPUS, sentence_split=language)
    return manifest["corpus"]["num_sentences"]


def test_texts_are_split_into_sentences(tmp_path):
    """An abbreviation does not end a sentence."""
    assert count_sentences(tmp_path, "en") == 5


@pytest.mark.parametrize("language", ["als", "zh-yue"])
def test_texts_in_languages_of_wikipedia_are_split(tmp_path, language):
    num_lines = len(CORPUS.split("\n\n"))
    assert count_sentences(tmp_path, language) > num_lines


@pytest.mark.parametrize(
    ("language", "word"), [("en", "sentencex"), ("xx", "=xx"), ("", "code")]
)
def test_a_wrong_language_or_a_missing_library_is_named(
    monkeypatch, tmp_path, language, word
):
    monkeypatch.setitem(sys.modules, "sentencex", None)
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("[UNK]\n")
    options = InstanceOptions(
        vocab_file=str(vocab_file), sentence_split=language
    )
    with pytest.raises(ValueError, match=word):
        TextEncoder(options)
