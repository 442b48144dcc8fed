"""Finds dev and test rows that also occur in training files or a corpus.

    python -m tools.check_overlap --input_file=train.tsv,corpus.txt \
      --eval_file=dev.tsv,test.tsv

If a model was trained on texts of a test set, its score on this test set is too
high. Two texts are equal if their words are equal, ignoring case and
punctuation. Only the evaluation files must fit into memory.
"""

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from data.io import tables, text_files
from files import progress
from files.flags import flag
from files.paths import Kind
from training.command_line import cli

_WORD = re.compile(r"\w+")
# Cells with fewer words than this are not compared, because they are usually
# labels, numbers or names.
_FEWEST_WORDS = 3
_KINDS = ("the same row", "a row with one of the texts", "{} words in a row")

Texts = list[tuple[str, ...]]


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
        "Report an overlap if at least this many successive words are equal.",
        at_least=2,
    )
    num_examples: int = flag(
        3, "Number of overlaps to show of each kind.", at_least=0
    )


def read_rows(path: str) -> Iterator[tuple[int, Texts]]:
    """Yields the line number and the texts of each row of a file.

    A text is a tuple of words. Skips texts of fewer than _FEWEST_WORDS words.

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
            yield number, texts


def find_keys(texts: Texts, ngram: int) -> tuple[set[int], ...]:
    """Returns a row's set of hash keys for each kind of overlap in _KINDS.

    Two rows overlap if their sets contain an equal key. `ngram` is the number
    of successive equal words that count as an overlap.
    """
    # Sort the texts, so that rows with equal texts in different orders get the
    # same key.
    whole = {hash(tuple(sorted(texts)))}
    sequences = {
        hash(words[start : start + ngram])
        for words in texts
        for start in range(len(words) - ngram + 1)
    }
    return whole, {hash(words) for words in texts}, sequences


def main(config: Config) -> None:
    """Prints how many evaluation rows overlap with each training file."""
    inputs = text_files.expand_patterns(config.input_file, "input_file")
    # (file, line number, first words) of each row in an evaluation file.
    places: list[tuple[str, int, str]] = []
    # {key: indices of the places with this key} for each kind of overlap.
    index: tuple[dict[int, set[int]], ...] = ({}, {}, {})
    totals: dict[str, int] = {}
    for path in text_files.expand_patterns(config.eval_file, "eval_file"):
        totals[path] = 0
        for number, texts in read_rows(path):
            totals[path] += 1
            places.append((path, number, " ".join(texts[0][:12])))
            for kind, keys in zip(
                index, find_keys(texts, config.ngram), strict=True
            ):
                for key in keys:
                    kind.setdefault(key, set()).add(len(places) - 1)
    for path in inputs:
        # {index of a place: line of `path` that overlaps} for each kind.
        found: tuple[dict[int, int], ...] = ({}, {}, {})
        rows = read_rows(path)
        for number, texts in progress.track(
            rows, None, "row", f"Reading {path}"
        ):
            for kind, seen, keys in zip(
                index, found, find_keys(texts, config.ngram), strict=True
            ):
                overlaps = (kind[key] for key in keys & kind.keys())
                for each in set[int]().union(*overlaps):
                    seen.setdefault(each, number)
        for file, total in totals.items():
            print(f"{file}: {total} rows, compared with {path}")
            for name, seen in zip(_KINDS, found, strict=True):
                name = name.format(config.ngram)
                ours = sorted(each for each in seen if places[each][0] == file)
                share = len(ours) / max(total, 1)
                print(f"  {name}: {len(ours)} ({share:.1%})")
                for each in ours[: config.num_examples]:
                    _, line, beginning = places[each]
                    print(f"    line {line} in line {seen[each]}: {beginning}")


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
