"""Objects with a method `read`, read as files."""

import io

import pytest

from data.io.compressed_files import RawReader


class DamagedFile:
    """A compressed file whose library finds an error."""

    def read(self, size):
        raise EOFError


def test_without_a_limit_all_bytes_after_the_position_are_read():
    file = io.BytesIO(b"abcdef")
    file.seek(2)
    assert io.BufferedReader(RawReader(file)).read() == b"cdef"


@pytest.mark.parametrize("buffer_size", [1, 100])
def test_a_limit_ends_the_file_after_so_many_bytes(buffer_size):
    file = io.BytesIO(b"abcdef")
    file.seek(2)
    reader = io.BufferedReader(RawReader(file, limit=3), buffer_size)
    assert reader.read() == b"cde"
    assert file.tell() == 5


def test_a_file_with_a_limit_cannot_be_sought():
    assert RawReader(io.BytesIO(b"abc")).seekable()
    assert not RawReader(io.BytesIO(b"abc"), limit=2).seekable()


def test_the_file_stays_open():
    file = io.BytesIO(b"abc")
    RawReader(file).close()
    assert file.read() == b"abc"


def test_an_error_names_a_damaged_compressed_file():
    reader = RawReader(DamagedFile(), "a.gz: the gzip file")
    with pytest.raises(OSError, match=r"a\.gz: the gzip file is damaged"):
        reader.read(1)


def test_an_error_of_an_uncompressed_file_stays():
    with pytest.raises(EOFError):
        RawReader(DamagedFile()).read(1)
