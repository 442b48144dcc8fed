"""Where tokens stand, over the golden texts and in the hard cases."""

import unicodedata

import pytest

from data.squad.passage_tokens import tokenize_with_spans
from tests.support import golden
from tests.support.tokenizers.tokenizer_cases import load_recorded


def to_sigma(text):
    """Replaces the final form of the Greek letter sigma by the usual one."""
    return text.replace("\u03c2", "\u03c3")


@pytest.mark.parametrize("casing", ["uncased", "cased"])
@pytest.mark.parametrize("path", golden.paths("tokenization/*.json.gz"))
def test_the_offsets_of_tokens_point_to_them_in_the_text(path, casing):
    tokenizer, texts, _ = load_recorded(path, casing)
    num_checked = 0
    for text in texts:
        tokens, spans = tokenize_with_spans(text, tokenizer)
        assert tokens == tokenizer.tokenize(text)
        previous = (0, 0)
        for token, span in zip(tokens, spans, strict=True):
            assert previous <= span
            assert span[0] < span[1] <= len(text)
            previous = span
            part = text[slice(*span)]
            # A syllable of Hangul may be several tokens; a sigma is another
            # letter at the end of a word.
            if token != "[UNK]" and unicodedata.is_normalized("NFD", part):
                words = "".join(tokenizer.basic_tokenizer.tokenize(part))
                token = token.removeprefix("##")
                assert to_sigma(words) == to_sigma(token)
                num_checked += 1
    assert num_checked > len(texts)


@pytest.mark.parametrize(
    "text, do_lower_case, tokens, parts",
    [
        # An accent of its own belongs to the letter before it.
        (
            "e\u0301a! \u200be",
            True,
            ["e", "##a", "!", "e"],
            ["e\u0301", *"a!e"],
        ),
        ("İa", True, ["i", "##a"], ["İ", "a"]),
        ("Éa", False, ["[UNK]"], ["Éa"]),
        ("中e中", True, ["中", "e", "中"], ["中", "e", "中"]),
        ("ae a", True, ["a", "##e", "a"], ["a", "e", "a"]),
        (" \u200b ", True, [], []),
    ],
)
def test_a_wordpiece_names_the_letters_it_came_from(
    create_tokenizer, text, do_lower_case, tokens, parts
):
    vocab = ["[UNK]", "a", "e", "i", "!", "中", "##a", "##e"]
    tokenizer = create_tokenizer(vocab, do_lower_case)
    found_tokens, spans = tokenize_with_spans(text, tokenizer)
    assert found_tokens == tokens
    assert [text[slice(*span)] for span in spans] == parts
