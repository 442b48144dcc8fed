"""Finds rows of dev and test files that training files or a corpus contain.

    python -m tools.check_overlap --input_file=train.tsv,corpus.txt \
      --eval_file=dev.tsv,test.tsv

A model that was trained on texts of a test set scores too well on this test
set. Two texts are equal if their words are equal, ignoring case and
punctuation. Only the evaluation files must fit into memory.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from data.io import tables, text_files
from files import progress
from files.flags import flag
from files.paths import Kind
from training.command_line import cli

_WORD = re.compile(r"\w+")
# Cells with fewer words are not compared, because they are usually labels,
# numbers or names.
_FEWEST_WORDS = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Flags of the tool: the files to compare, and how to compare them."""

    input_file: str = flag(
        ...,
        "Training files or corpora, comma-separated: .csv, .jsonl, .parquet, "
        "or files with lines of text or of tab-separated cells. Each file may "
        "be compressed (.gz).",
        kind=Kind.INPUT_FILES,
    )
    eval_file: str = flag(
        ...,
        "Dev and test files, comma-separated, in the formats of --input_file.",
        kind=Kind.INPUT_FILES,
    )
    ngram: int = flag(
        13,
        "Minimum number of successive equal words that is reported as an "
        "overlap.",
        at_least=2,
    )
    num_examples: int = flag(
        3, "Number of examples to show for each kind of overlap.", at_least=0
    )


class Row(NamedTuple):
    """A row of a file: its line number, and its texts as tuples of words."""

    number: int
    texts: list[tuple[str, ...]]


def read_rows(path: str) -> Iterator[Row]:
    """Yields the rows of a file. Skips texts of fewer than _FEWEST_WORDS words.

    Raises:
        OSError: the file cannot be read.
        ValueError: a row is malformed. The message names the line.
    """
    if tables.form_of(path) in ("csv", "jsonl", "parquet"):
        rows: Iterable[tuple[int, Any]] = tables.read_rows(path)
    else:
        # Read lines as in GLUE's files: their number of cells may vary, and
        # quotes are ordinary characters.
        lines = enumerate(text_files.read_lines(path), start=1)
        rows = ((n, dict(enumerate(line.split("\t")))) for n, line in lines)
    for number, row in rows:
        if isinstance(row, ValueError):
            raise ValueError(f"{path}, line {number}: {row}")
        found = [
            tuple(_WORD.findall(cell.lower()))
            for cell in row.values()
            if isinstance(cell, str)
        ]
        if texts := [words for words in found if len(words) >= _FEWEST_WORDS]:
            yield Row(number, texts)


class Index:
    """Finds rows of evaluation files that overlap with another row.

    Args:
        ngram: number of successive equal words that count as an overlap.
    """

    KINDS = ("the same row", "a row with one of the texts", "words in a row")

    def __init__(self, ngram: int) -> None:
        self._ngram = ngram
        self._by_kind: tuple[dict[int, set[int]], ...] = ({}, {}, {})
        # (file, line number, first words of the first text) of each added row.
        self.places: list[tuple[str, int, str]] = []

    def add(self, path: str, row: Row) -> None:
        """Adds a row of the evaluation file `path` to the index."""
        beginning = " ".join(row.texts[0][:12])
        self.places.append((path, row.number, beginning))
        for kind, keys in zip(self._by_kind, self._keys(row), strict=True):
            for key in keys:
                kind.setdefault(key, set()).add(len(self.places) - 1)

    def find(self, row: Row) -> list[set[int]]:
        """Finds the added rows that overlap with `row`.

        Returns a set for each kind of overlap in KINDS. The set contains the
        index in `places` of each overlapping row.
        """
        return [
            set().union(*(kind[key] for key in keys if key in kind))
            for kind, keys in zip(self._by_kind, self._keys(row), strict=True)
        ]

    def _keys(self, row: Row) -> tuple[set[int], set[int], set[int]]:
        # Sort the texts, so that two rows are the same if they contain the same
        # texts in another order.
        whole = {hash(tuple(sorted(row.texts)))}
        texts = {hash(words) for words in row.texts}
        sequences = {
            hash(words[start : start + self._ngram])
            for words in row.texts
            for start in range(len(words) - self._ngram + 1)
        }
        return whole, texts, sequences


def main(config: Config) -> None:
    """Prints how many rows of the evaluation files the other files contain."""
    inputs = text_files.expand_patterns(config.input_file, "input_file")
    index, totals = Index(config.ngram), dict[str, int]()
    for path in text_files.expand_patterns(config.eval_file, "eval_file"):
        totals[path] = 0
        for row in read_rows(path):
            totals[path] += 1
            index.add(path, row)
    for path in inputs:
        found: list[dict[int, int]] = [{} for _ in Index.KINDS]
        rows = read_rows(path)
        for row in progress.track(rows, None, "row", f"Reading {path}"):
            for seen, overlaps in zip(found, index.find(row), strict=True):
                for each in overlaps:
                    seen.setdefault(each, row.number)
        for file, total in totals.items():
            _describe(config, index, path, file, total, found)


def _describe(
    config: Config,
    index: Index,
    path: str,
    file: str,
    total: int,
    found: Sequence[dict[int, int]],
) -> None:
    """Prints which rows of an evaluation file another file contains.

    `index` contains all evaluation files. `path` is the other file, such as a
    training file. `file` is the evaluation file, and `total` its number of
    rows. `found` is for each kind of overlap {index of a row in `index.places`:
    line of `path` that overlaps with it}.
    """
    print(f"{file}: {total} rows, compared with {path}")
    for kind, seen in zip(Index.KINDS, found, strict=True):
        rows = [each for each in sorted(seen) if index.places[each][0] == file]
        name = f"{config.ngram} {kind}" if kind == Index.KINDS[-1] else kind
        print(f"  {name}: {len(rows)} ({len(rows) / max(total, 1):.1%})")
        for each in rows[: config.num_examples]:
            _, number, beginning = index.places[each]
            print(f"    line {number} in line {seen[each]}: {beginning}")


def command() -> None:
    """Entry point of the installed command."""
    cli.run(main, Config)


if __name__ == "__main__":
    command()
