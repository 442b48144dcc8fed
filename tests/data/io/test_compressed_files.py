"""Compressed files: the first bytes tell how, whatever the name."""

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile

import pytest

from data.io import compressed_files, text_files
from data.pretraining import corpus_parts
from data.tables.table_layout import TableLayout
from data.tables.tables import read_rows

zstandard = pytest.importorskip(
    "zstandard", reason="needs requirements/tables.txt"
)

TEXT = "text,label\nCaf\xe9,a\nb,c\n"
ROWS = [
    (2, {"text": "Caf\xe9", "label": "a"}),
    (3, {"text": "b", "label": "c"}),
]
COMPRESS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("encoding", [None, "utf-16", "cp1252"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "A.CSV.ZST", "a.csv.xz"])
def test_a_compressed_table_has_the_rows_of_the_table(
    tmp_path, kind, encoding, name
):
    path = tmp_path / name
    path.write_bytes(COMPRESS[kind](TEXT.encode(encoding or "utf-8")))
    layout = TableLayout(encoding=encoding if encoding == "cp1252" else None)
    assert [*read_rows(path, layout)] == ROWS


@pytest.mark.parametrize("kind", COMPRESS)
def test_several_members_are_one_text(tmp_path, kind):
    data = TEXT.encode()
    path = tmp_path / "a.csv"
    path.write_bytes(COMPRESS[kind](data[:20]) + COMPRESS[kind](data[20:]))
    assert [*read_rows(path)] == ROWS


@pytest.mark.parametrize(
    "damage",
    [
        lambda compressed: compressed[:-9],
        lambda compressed: compressed[:2000],
        lambda compressed: compressed + compressed[:40],
    ],
)
@pytest.mark.parametrize("kind", COMPRESS)
def test_a_damaged_file_is_an_error(tmp_path, kind, damage):
    path = tmp_path / "a.csv"
    compressed = COMPRESS[kind](b"".join(b"%d,b\n" % i for i in range(9999)))
    path.write_bytes(damage(compressed))
    with pytest.raises(OSError, match=rf"a\.csv: the {kind} file is damag"):
        [*read_rows(path, TableLayout(has_header=False))]


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_corpus_is_decompressed_and_not_cut(tmp_path, kind):
    lines = [f"Line {i} of the corpus." for i in range(5)]
    path = tmp_path / "corpus.txt"
    path.write_bytes(COMPRESS[kind]("\n".join(lines).encode()))
    assert [*text_files.read_corpus_lines(path)] == lines
    ((block,),) = corpus_parts.split_corpus([str(path)])
    assert block.end is None


def test_a_large_file_is_decompressed_in_pieces(tmp_path):
    path = tmp_path / "a.txt"
    lines = "".join(f"{i}\n" for i in range(200_000))
    path.write_bytes(COMPRESS["zstd"](lines.encode()))
    with text_files.open_text(path) as file:
        assert file.read() == lines


def zip_archive():
    """Returns a zip archive of a table, as bytes."""
    compressed = io.BytesIO()
    with zipfile.ZipFile(compressed, "w") as archive:
        archive.writestr("a.csv", TEXT.encode())
    return compressed.getvalue()


def tar_archive():
    """Returns a compressed tar archive of a table, as bytes."""
    rows = TEXT.encode()
    compressed = io.BytesIO()
    with tarfile.open(fileobj=compressed, mode="w:gz") as archive:
        member = tarfile.TarInfo("a.csv")
        member.size = len(rows)
        archive.addfile(member, io.BytesIO(rows))
    return compressed.getvalue()


@pytest.mark.parametrize(
    ("create", "kind"),
    [(zip_archive, "zip archive"), (tar_archive, "tar archive")],
)
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".txt"])
@pytest.mark.parametrize(
    "read_lines", [read_rows, text_files.read_corpus_lines]
)
def test_an_archive_is_refused_by_its_kind(
    tmp_path, create, kind, ending, read_lines
):
    path = tmp_path / f"a{ending}"
    path.write_bytes(create())
    with pytest.raises(ValueError, match=f"is a {kind}"):
        [*read_lines(path)]


def test_without_the_package_one_sentence_says_so(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_bytes(COMPRESS["zstd"](b"a,b\n"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ValueError, match=r"requirements/tables\.txt"):
        [*read_rows(path)]


def test_a_file_without_a_buffer_is_decompressed():
    """Remote files have no buffer."""

    class Remote(io.RawIOBase):
        def __init__(self, data):
            self.data = io.BytesIO(data)

        def read(self, size=-1):
            return self.data.read(size)

        def seekable(self):
            return True

    compressed = Remote(COMPRESS["xz"](TEXT.encode()))
    assert (
        compressed_files.decompress_file(compressed, "gs://a/b").read()
        == TEXT.encode()
    )
