"""Named entities: reads tagged sentences in CoNLL-2003's layout."""

import dataclasses
import os
import re
from collections.abc import Iterator

from data.io import text_files
from data.io.sets import SetReader, find_set_files
from data.ner.scoring import to_scheme
from files.labels import check_labels

_SET_FILES = {
    "train": ("train.txt", "eng.train"),
    "dev": ("valid.txt", "dev.txt", "eng.testa"),
    "test": ("test.txt", "eng.testb"),
}


@dataclasses.dataclass(slots=True)
class NerExample:
    """One sentence.

    Attributes:
        guid: str, names the example.
        words: list of str.
        labels: list of str, the words' tags.
        document: int, the number of the document it is in.
    """

    guid: str
    words: list[str]
    labels: list[str]
    document: int


class NerProcessor(SetReader[NerExample]):
    """Reads the sets of a data folder, in CoNLL-2003's layout.

    A line holds a word, then any columns, then its tag, separated by white
    space; an empty line ends a sentence, a line of -DOCSTART- a document. Tags
    may be in any scheme of scoring.py, such as the first release's IOB1. They
    become IOB2, or the scheme of the given labels. In a test set tags may be
    missing.

    Args:
        labels: list of str; None for those of the train set, "O" first.

    Raises:
        ValueError: the labels are fewer than two, or not distinct.
    """

    def __init__(self, labels: list[str] | None = None) -> None:
        if labels is not None:
            check_labels(labels, "--labels", fewest=2)
        self._labels = labels

    def get_labels(self, data_dir: str | os.PathLike[str]) -> list[str]:
        """Returns the list of labels; errors as `read_set`."""
        if self._labels is None:
            tags = {
                label
                for example in self.read_set(data_dir, "train")
                for label in example.labels
            }
            if tags == {"O"}:
                raise ValueError(
                    f"the train set in {data_dir} has no tag but O; mark the "
                    "entities to learn, such as B-PER and I-PER"
                )
            self._labels = ["O", *sorted(tags - {"O"})]
        return self._labels

    def read_set(
        self, data_dir: str | os.PathLike[str], name: str
    ) -> list[NerExample]:
        """See SetReader."""
        path = find_set_files(data_dir, name, _SET_FILES[name])[0]
        labels = self._labels
        examples: list[NerExample] = []
        for document, lines in _read_sentences(path):
            tags = [
                _read_tag(columns, f"{path}, line {number}", name)
                for number, columns in lines
            ]
            tags = to_scheme(tags, labels or ())
            for tag, (number, _) in zip(tags, lines, strict=True):
                if labels is not None and tag not in labels:
                    raise ValueError(
                        f"{path}, line {number}: unknown tag {tag!r}; the tags "
                        f"are {labels}"
                    )
            words = [columns[0] for _, columns in lines]
            guid = f"{name}-{len(examples) + 1}"
            examples.append(NerExample(guid, words, tags, document))
        if not examples:
            raise ValueError(f"{path} holds no sentence")
        return examples


def _read_sentences(
    path: str | os.PathLike[str],
) -> Iterator[tuple[int, list[tuple[int, list[str]]]]]:
    """Yields (number of the document, [(line number, columns)])."""
    document, sentence = 0, []
    for number, line in text_files.read_numbered(path):
        # Other white space, such as a no-break space, belongs to the word.
        columns = re.findall("[^ \t\r]+", line.removeprefix("\ufeff"))
        if columns and columns[0] != "-DOCSTART-":
            sentence.append((number, columns))
            continue
        if sentence:
            yield document, sentence
            sentence = []
        document += bool(columns)
    if sentence:
        yield document, sentence


def _read_tag(columns: list[str], where: str, set_type: str) -> str:
    """Returns the tag in the last column, checked."""
    if len(columns) == 1:
        if set_type == "test":
            return "O"
        raise ValueError(
            f"{where}: a line must hold a word and, last, its tag. Received: "
            f"{columns[0]!r}"
        )
    if not re.fullmatch("O|[BIESLU]-.+", columns[-1]):
        raise ValueError(
            f"{where}: the last column must be a tag, O or TYPE after B-, I-, "
            "E-, S-, L- or U- (the schemes IOB, IOE, IOBES and BILOU). "
            f"Received: {columns[-1]!r}"
        )
    return columns[-1]
