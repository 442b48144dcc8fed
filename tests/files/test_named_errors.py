"""Errors of reading name the file, which the system's own do not."""

import sys

import pytest

from data.io import records, text_files
from data.text import tokenization
from files import folders, json_files

# Can be opened; its first page cannot be read.
UNREADABLE = "/proc/self/mem"


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
@pytest.mark.parametrize(
    "read",
    [
        json_files.read_json,
        lambda path: list(text_files.read_lines(path)),
        lambda path: list(records.read_records(path)),
        tokenization.FullTokenizer,
    ],
)
def test_a_file_that_cannot_be_read_is_named(read):
    with pytest.raises(OSError) as refused:
        read(UNREADABLE)
    assert refused.value.filename == UNREADABLE


def test_a_full_disk_names_the_export(tmp_path):
    path = tmp_path / "export"
    with pytest.raises(OSError, match=f"'{path}'"):
        with folders.new_folder(path):
            raise OSError(28, "No space left on device")
    assert not [*tmp_path.iterdir()]
