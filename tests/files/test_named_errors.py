"""Errors of reading name the file, which the system's own do not."""

import os
import sys

import pytest

from data.io import records, text_files
from data.io.tables import read_table
from data.text import tokenization
from files import folders, json_files
from files.paths import named_errors
from modeling.checkpoints import labels

# Can be opened; its first page cannot be read.
UNREADABLE = "/proc/self/mem"


def read_csv(path, folder):
    table = folder / "table.csv"
    table.symlink_to(path)
    return list(read_table(table, ["a"]))


def read_labels(path, folder):
    (folder / "labels.txt").symlink_to(path)
    return labels.load_labels(folder)


READERS = {
    "json": lambda path, _: json_files.read_json(path),
    "lines": lambda path, _: list(text_files.read_lines(path)),
    "records": lambda path, _: list(records.read_records(path)),
    "table": read_csv,
    "vocabulary": lambda path, _: tokenization.FullTokenizer(path),
    "labels": read_labels,
}


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_cannot_be_read_is_named(tmp_path, reader):
    with pytest.raises(OSError) as refused:
        READERS[reader](UNREADABLE, tmp_path)
    links = (str(tmp_path / name) for name in ("table.csv", "labels.txt"))
    named = {UNREADABLE, *links}
    assert refused.value.filename in named
    assert refused.value.filename in str(refused.value)


def test_an_error_keeps_its_kind_and_a_name_that_it_has():
    with pytest.raises(BrokenPipeError, match="'pipe'"), named_errors("pipe"):
        raise BrokenPipeError(32, "Broken pipe")
    with pytest.raises(FileNotFoundError) as refused, named_errors("other"):
        os.stat("nowhere")
    assert refused.value.filename == "nowhere"
    with pytest.raises(OSError, match="^told already$"), named_errors("other"):
        raise OSError("told already")


def test_a_full_disk_names_the_export(tmp_path):
    path = tmp_path / "export"
    with pytest.raises(OSError, match=f"'{path}'"):
        with folders.new_folder(path):
            raise OSError(28, "No space left on device")
    assert not [*tmp_path.iterdir()]
