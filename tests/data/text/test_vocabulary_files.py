"""Vocabularies are read as Google's code reads them."""

from data.text import vocabulary_files


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"\xef\xbb\xbf[PAD]\r\na\x0bb\n")
    vocabulary = vocabulary_files.read_vocabulary(path)
    assert vocabulary.tokens == ["[PAD]", "a\x0bb"]
    assert vocabulary.contents == b"[PAD]\r\na\x0bb\n"
    assert vocabulary.stated_casing is None
