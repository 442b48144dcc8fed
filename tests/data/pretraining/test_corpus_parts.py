"""Parts of a corpus: each document is in one of them."""

import itertools
import random

import pytest

from data.io import text_files
from data.pretraining import corpus_parts, documents


@pytest.fixture
def paths(tmp_path):
    """Two files of random documents, and an empty one between them."""
    rng = random.Random(0)
    for name in "ac":
        lines = rng.choices(["ab\n", "c\n", "\n", " \n"], k=200)
        (tmp_path / name).write_text("".join([*lines, "the end"]))
    (tmp_path / "b").write_text("")
    return [str(tmp_path / name) for name in "abc"]


def read_documents(line_ranges):
    """Returns the documents of the line ranges of a part."""
    text = ""
    for line_range in line_ranges:
        lines = text_files.read_lossy_lines(
            line_range.path, line_range.start, line_range.end
        )
        text += "\n".join(line.strip() for line, _ in lines) + "\n\n"
    documents = map(str.strip, text.split("\n\n"))
    return [*filter(None, documents)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10000])
def test_the_parts_contain_each_document_once(paths, monkeypatch, size):
    whole = read_documents([documents.LineRange(path) for path in paths])
    monkeypatch.setattr(corpus_parts, "_PART_BYTES", size)
    parts = corpus_parts.split_corpus(paths)
    assert [*itertools.chain(*map(read_documents, parts))] == whole


def test_a_small_corpus_is_one_part(paths):
    assert len(corpus_parts.split_corpus(paths)) == 1


def test_a_corpus_of_a_megabyte_has_four_parts(tmp_path):
    path = tmp_path / "large.txt"
    path.write_text("a text\n\n" * (1 << 17))
    assert len(corpus_parts.split_corpus([str(path)])) == 4
