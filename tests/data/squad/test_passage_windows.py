"""The windows of small passages, and their characters.

test_passage_windows_golden.py compares windows with those that the original
recorded.
"""

from tests.support.squad.squad_passages import create_windows


def test_char_offsets_find_answers_in_text_without_spaces(tmp_path, tokenizer):
    _, (feature,) = create_windows(
        tmp_path,
        tokenizer,
        " 黑豹队了丢了分。",
        (5, "丢了"),
        training=True,
        use_char_offsets=True,
    )
    answer = slice(feature.start_position, feature.end_position + 1)
    assert feature.tokens[answer] == ["丢", "了"]


def test_char_offsets_are_of_accents_and_unknown_words_too(tmp_path, tokenizer):
    (example,), (feature, *_) = create_windows(
        tmp_path,
        tokenizer,
        "a. B\u0301de\u0301! Ünd, c",
        use_char_offsets=True,
    )
    assert feature.tokens[3:9] == ["a", ".", "b", "##d", "##e", "[UNK]"]
    spans = feature.token_to_char_map
    texts = [example.context[slice(*spans[i])] for i in (8, 9)]
    assert texts == ["!", "Ünd"]
