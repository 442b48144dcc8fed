"""Parts of a corpus: each document is in one of them."""

import itertools
import random

from data.io import text_files
from data.pretraining import corpus_parts


def test_parts_give_each_document_once(tmp_path, monkeypatch):
    rng = random.Random(0)
    paths = []
    for name in "abc":
        paths.append(str(tmp_path / name))
        lines = rng.choices(["ab\n", "c\n", "\n", " \n"], k=200)
        (tmp_path / name).write_text("".join([*lines, "the end"]))
    (tmp_path / "b").write_text("")

    def read(blocks):
        text = ""
        for block in blocks:
            lines = text_files.read_lossy_lines(
                block.path, block.start, block.end
            )
            text += "\n".join(line.strip() for line, _ in lines) + "\n\n"
        return [
            document.strip()
            for document in text.split("\n\n")
            if document.strip()
        ]

    whole = read([corpus_parts.Block(path) for path in paths])
    for size in (1, 2, 3, 7, 64, 10000):
        monkeypatch.setattr(corpus_parts, "_PART_BYTES", size)
        parts = corpus_parts.split_to_parts(paths)
        assert (len(parts) > 1) == (size < 10000)
        assert [*itertools.chain(*map(read, parts))] == whole
