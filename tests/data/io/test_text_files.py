"""Lines of text files, and the files that patterns name."""

import gzip

import pytest
import tensorflow as tf

from data.io import text_files


def test_patterns_expand_in_order(tmp_path):
    for name in ("b.txt", "a.txt", "c.dat"):
        (tmp_path / name).write_text("")
    assert text_files.expand_patterns(
        f"{tmp_path}/c.dat, {tmp_path}/*.txt", "input_file"
    ) == [f"{tmp_path}/{name}" for name in ("c.dat", "a.txt", "b.txt")]


@pytest.mark.parametrize("patterns", ["a.txt,x*", "", None])
def test_patterns_without_a_file_are_an_error(tmp_path, monkeypatch, patterns):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").touch()
    with pytest.raises(FileNotFoundError, match="--input_file"):
        text_files.expand_patterns(patterns, "input_file")


def test_lines_of_a_gzip_file_are_those_of_googles_code(tmp_path):
    path = tmp_path / "a.txt.gz"
    # As in Google's code, carriage returns and zeros are within lines.
    path.write_bytes(gzip.compress("a\rb\0c\r\nd\u2028\n\n".encode() * 999))
    lines = list(text_files.read_corpus_lines(path))
    assert lines[:3] == ["a\rb\0c\r", "d\u2028", ""]


def test_a_damaged_gzip_file_is_named(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"a\nb\n" * 999)[:40])
    with pytest.raises(OSError, match=r"a\.txt\.gz: the gzip file is damaged"):
        list(text_files.read_corpus_lines(path))


@pytest.mark.parametrize("scheme", ["", "ram:/"])
def test_a_folder_is_no_file(tmp_path, scheme):
    folder = f"{scheme}{tmp_path}/folder"
    tf.io.gfile.makedirs(folder)
    with tf.io.gfile.GFile(f"{folder}/a.txt", "w") as file:
        file.write("a")
    assert text_files.is_file(f"{folder}/a.txt")
    assert not text_files.is_file(folder)
    assert not text_files.is_file(f"{folder}/b.txt")
