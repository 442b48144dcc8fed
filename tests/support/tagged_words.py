r"""Files of tagged words and annotated texts, as tests write and read them.

For example:

    (example,) = read_conll_file(tmp_path, "a O\nb B-X\n", "dev.txt", "dev")
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from data.ner import annotation_files
from data.ner.ner_examples import NerExample
from data.ner.ner_options import NerOptions
from data.ner.ner_reader import NerReader
from data.sets.data_file_options import DataFileOptions
from data.sets.example_reader import SetFile
from data.sets.held_sets import FileSets
from data.sets.set_names import BaseSet

# Two sentences, which tests write in many layouts.
WORDS = [["Anna", "left", "Oslo", "."], ["It", ",", '"', "rains"]]
TAGS = [["B-PER", "O", "B-LOC", "O"], ["O", "O", "O", "O"]]


def read_conll_file(
    folder: Path,
    text: str,
    name: str = "train.csv",
    set_name: BaseSet = "train",
    labels: Sequence[str] | None = None,
    **columns: Any,
) -> Sequence[NerExample]:
    """Writes the file of a set, and returns its examples."""
    (folder / name).write_bytes(text.encode())
    options = NerOptions(labels=labels, **columns)
    ner_sets = FileSets(NerReader(options), folder, DataFileOptions())
    return ner_sets.read(set_name)


def read_annotated_texts(
    path: str | Path, set_name: BaseSet = "train", labels: Sequence[str] = ()
) -> list[NerExample]:
    """Returns the examples of a file of an annotation tool."""
    file = SetFile(str(path), set_name, source=None, labels=labels)
    return annotation_files.read_annotated_texts(file)


def words_of(examples: Iterable[NerExample]) -> list[Sequence[str]]:
    """Returns the words of each example."""
    return [example.words for example in examples]


def tags_of(examples: Iterable[NerExample]) -> list[Sequence[str] | None]:
    """Returns the tags of each example's words."""
    return [example.tags for example in examples]
