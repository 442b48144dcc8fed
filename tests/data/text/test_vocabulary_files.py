"""Vocabularies are read as Google's code reads them."""

import gzip

import pytest

from data.text.vocabulary_files import Vocabulary, read_vocabulary
from tests.support.log_lines import logged_warnings
from tests.support.tokenizers.tokenizer_json import (
    TOKENS,
    write_tokenizer_json,
)


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"\xef\xbb\xbf[PAD]\r\na\x0bb\n")
    vocabulary = read_vocabulary(path)
    assert vocabulary.tokens == ["[PAD]", "a\x0bb"]
    assert vocabulary.contents == b"[PAD]\r\na\x0bb\n"
    assert vocabulary.stated_casing is None


def test_a_compressed_vocabulary_is_decompressed(tmp_path):
    path = tmp_path / "vocab.txt.gz"
    path.write_bytes(gzip.compress(b"[PAD]\nthe\n"))
    vocabulary = read_vocabulary(path)
    assert vocabulary.tokens == ["[PAD]", "the"]
    assert vocabulary.contents == b"[PAD]\nthe\n"


def test_a_tokenizer_json_states_its_casing(tmp_path):
    path = write_tokenizer_json(tmp_path / "tokenizer.json")
    vocabulary = read_vocabulary(path)
    assert vocabulary.tokens == TOKENS
    assert vocabulary.stated_casing is True


def test_a_vocabulary_in_utf_16_is_named(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\nthe\n", encoding="utf-16")
    with pytest.raises(ValueError, match=r"vocab\.txt, line 1: .*not UTF-8"):
        read_vocabulary(path)


SPECIAL = ["[UNK]", "[CLS]"]


def vocabulary_of(tokens, path="v.txt", stated_casing=None):
    """Returns a vocabulary that no file contains."""
    return Vocabulary(path, b"", tokens, stated_casing)


def test_empty_lines_at_the_end_do_not_count():
    assert vocabulary_of(["a", "", "b", "", ""]).count_entries() == 3


def test_the_lines_of_a_model_count_if_they_are_empty():
    assert vocabulary_of(["a", "", ""]).count_entries(at_least=2) == 2


def test_a_missing_special_token_is_named():
    with pytest.raises(ValueError, match=r"v\.txt: \[CLS\] not found in 2"):
        vocabulary_of(["[UNK]", "a"]).check_tokens(SPECIAL)


@pytest.mark.parametrize("mark", ["\u2581", "\u0120"])
def test_pieces_of_another_tokenizer_are_refused(mark):
    tokens = [*SPECIAL, *(f"{mark}word{i}" for i in range(9))]
    with pytest.raises(ValueError, match="SentencePiece or GPT-2"):
        vocabulary_of(tokens).check_tokens(SPECIAL)


def test_more_lines_than_the_model_has_are_refused():
    with pytest.raises(ValueError, match="3 WordPieces, but vocab_size is 2"):
        vocabulary_of([*SPECIAL, "a"]).check_size(2)


def test_fewer_lines_than_the_model_has_are_warned_of(caplog):
    vocabulary_of(SPECIAL).check_size(5)
    (warning,) = logged_warnings(caplog)
    assert "last 3" in warning


def test_vocabularies_may_differ_in_unused_entries_and_in_length(tmp_path):
    ours, theirs = ["[UNK]", "new", "b"], ["[UNK]", "[unused1]"]
    (tmp_path / "ours.txt").write_text("\n".join(ours))
    (tmp_path / "theirs.txt").write_text("\n".join(theirs))
    vocabulary_of(ours).check_same_tokens(tmp_path / "theirs.txt")
    with pytest.raises(ValueError, match=r"^w .* model: line 2 .* 'new'"):
        vocabulary_of(theirs, "w").check_same_tokens(
            tmp_path / "ours.txt", "model"
        )


@pytest.mark.parametrize(
    ("stated", "chosen"), [(None, True), (True, None), (False, False)]
)
def test_a_casing_that_nothing_contradicts_is_right(stated, chosen):
    vocabulary_of([], stated_casing=stated).check_casing(chosen)


def test_a_casing_that_the_file_contradicts_is_wrong():
    with pytest.raises(ValueError, match="do_lower_case=True"):
        vocabulary_of([], stated_casing=True).check_casing(False)
