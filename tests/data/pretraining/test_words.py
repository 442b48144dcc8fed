"""Where words and sentences begin, in text that does not say so itself."""

import os
import re
import sys

import pytest

from data.text import sentences, tokenization
from tests.shards import create, read


@pytest.mark.parametrize(
    ("segmenter", "message"),
    [
        ("os:getcwd", "it raised TypeError: .*no arguments"),
        ("os:sep", "it raised TypeError: 'str' object is not callable"),
        ("builtins:str", "must return a list of str.*it returned A tug"),
        ("builtins:len", "it raised TypeError: 'int' object is not iter"),
        ("no_such_module:cut", "cannot be imported as module:function"),
        ("os", "cannot be imported as module:function"),
    ],
)
def test_what_is_no_segmenter_leaves_nothing(tmp_path, segmenter, message):
    with pytest.raises(ValueError, match=f"{segmenter} .*{message}"):
        create(tmp_path, text={"segmenter": segmenter})
    assert os.listdir(tmp_path) == []


def words_masked_whole(manifest, words, vocab_file):
    """Whether each occurrence of words is masked whole or not at all."""
    features = read(manifest)
    tokens = tokenization.FullTokenizer(vocab_file).tokens
    counts = set()
    for row, ids in enumerate(features["input_ids"]):
        number = (features["masked_lm_weights"][row] > 0).sum()
        places = features["masked_lm_positions"][row, :number]
        ids[places] = features["masked_lm_ids"][row, :number]
        # Each token becomes one character, so that positions stay.
        text = "".join(tokens[i] if len(tokens[i]) == 1 else " " for i in ids)
        for word in re.finditer("|".join(words), text):
            counts.add(len({*range(*word.span())} & {*places}))
    return counts == {0, 2}


def split_to_pairs(text):
    """A segmenter for tests: every two characters are a word."""
    return [text[start : start + 2] for start in range(0, len(text), 2)]


def test_word_boundaries_for_text_without_spaces(tmp_path):
    words = ["\u4e2d\u6587", "\u6d4b\u8bd5", "\u53e5\u5b50"]
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text(
        "\n".join([*tokenization.SPECIAL_TOKENS, *"".join(words)])
    )
    text = {"vocab_file": str(vocab_file)}
    line = "".join(words)
    corpus, boundaries = tmp_path / "corpus.txt", tmp_path / "words.txt"
    corpus.write_text(f"{line}\n{line}\n\n" * 30)
    boundaries.write_text(f"{' '.join(words)}\n{' '.join(words)}\n\n" * 30)
    options = {"do_whole_word_mask": True, "masked_lm_prob": 0.4}
    segmenter = {"segmenter": f"{__name__}:split_to_pairs"}
    for name, changes, are_whole in (
        ("plain", {"text": text}, False),
        ("file", {"text": text, "boundary_files": [boundaries]}, True),
        ("segmenter", {"text": text | segmenter}, True),
    ):
        manifest = create(tmp_path / name, [corpus], **changes, **options)
        assert words_masked_whole(manifest, words, vocab_file) == are_whole
    boundaries.write_text("other\n")
    with pytest.raises(
        ValueError, match="words.txt, line 1: apart from spaces"
    ):
        create(tmp_path / "x", [corpus], boundary_files=[boundaries])
    assert not (tmp_path / "x").exists()


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
