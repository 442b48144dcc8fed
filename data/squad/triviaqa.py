"""Converts TriviaQA's released files to SQuAD's layout.

Joshi et al. 2017: a file of questions, each with the names of documents and
all spellings of its answer, and a folder of the documents.
"""

import functools
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from data.squad.reading import field
from files.json_files import read_json

# The list of a question's documents, and the folder of their files.
_FOLDERS = {"EntityPages": "wikipedia", "SearchResults": "web"}

_field = functools.partial(field, layout="TriviaQA")


class Passage(NamedTuple):
    """The beginning of a document, with a question about it.

    Attributes:
        entry: an entry of SQuAD's "data", with one paragraph and question.
        has_answer: whether the passage holds the answer.
    """

    entry: dict[str, Any]
    has_answer: bool


class TriviaQA:
    """The questions of a file, each with its documents.

    Args:
        questions_file: wikipedia-train.json and the like.
        evidence_dir: folder with the folders `wikipedia` and `web`.
        max_num_words: number of words from the beginning of a document; 400 in
            the paper's footnote.
        is_training: whether a question gets one answer, the first in the
            passage; else all spellings are gold answers.

    Attributes:
        num_missing: number of documents without a file, so far.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not TriviaQA's.
    """

    def __init__(
        self,
        questions_file: str | os.PathLike[str],
        evidence_dir: str | os.PathLike[str],
        max_num_words: int = 400,
        is_training: bool = True,
    ) -> None:
        self._file = os.fspath(questions_file)
        self._evidence_dir = os.fspath(evidence_dir)
        self._is_training = is_training
        self._beginning = re.compile(
            rf"\s*(?:\S+\s+){{0,{max_num_words - 1}}}\S+"
        )
        self._questions = _field(
            read_json(self._file), "Data", list, self._file
        )
        self.num_missing = 0

    def __len__(self) -> int:
        """Returns the number of questions."""
        return len(self._questions)

    def passages(self) -> Iterator[list[Passage]]:
        """Yields the passages of each question.

        Raises:
            OSError: a document cannot be read.
            ValueError: a question is not in TriviaQA's layout.
        """
        for number, question in enumerate(self._questions):
            where = f"{self._file}: Data[{number}]"
            answer = _field(question, "Answer", dict, where)
            spellings = _spellings(answer, where)
            yield [
                self._passage(question, spellings, title, name, text, where)
                for title, name, text in self._documents(question, where)
            ]

    def _documents(
        self, question: dict[str, Any], where: str
    ) -> Iterator[tuple[str, str, str]]:
        """Yields the title, the name and the beginning of each document."""
        for kind, folder in _FOLDERS.items():
            for document in _listed(question, kind, where):
                name = _field(document, "Filename", str, where)
                root = os.path.join(self._evidence_dir, folder)
                path = os.path.normpath(os.path.join(root, name))
                if not path.startswith(os.path.join(root, "")):
                    raise ValueError(
                        f"{where}: the document {name!r} is not in {root}"
                    )
                try:
                    with open(path, encoding="utf-8", errors="replace") as file:
                        text = file.read()
                except FileNotFoundError:
                    self.num_missing += 1
                    continue
                except ValueError:
                    raise ValueError(
                        f"{where}: the document {name!r} has a name that no "
                        "file can have"
                    ) from None
                if beginning := self._beginning.match(text):
                    title = document.get("Title") or name
                    yield str(title), name, beginning.group().lstrip()

    def _passage(
        self,
        question: dict[str, Any],
        spellings: Sequence[str],
        title: str,
        name: str,
        text: str,
        where: str,
    ) -> Passage:
        # Find the first of any spelling, as whole words, ignoring case. Prefer
        # the longer of two that begin at the same place.
        patterns = [
            r"\s+".join(map(re.escape, each.split()))
            for each in sorted(spellings, key=len, reverse=True)
        ]
        match = re.search(
            rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", text, re.IGNORECASE
        )
        answers = [{"text": each, "answer_start": -1} for each in spellings]
        if self._is_training:
            answers = []
            if match:
                answers = [
                    {"text": match.group(), "answer_start": match.start()}
                ]
        qa = {
            "id": f"{_field(question, 'QuestionId', str, where)}--{name}",
            "question": _field(question, "Question", str, where),
            "answers": answers,
        }
        paragraph = {"context": text, "qas": [qa]}
        return Passage(
            {"title": title, "paragraphs": [paragraph]}, match is not None
        )


def _listed(mapping: dict[str, Any], name: str, where: str) -> list[Any]:
    """Returns a list that may be missing."""
    if mapping.get(name) is None:
        return []
    return _field(mapping, name, list, where)


def _spellings(answer: dict[str, Any], where: str) -> list[str]:
    """Returns the spellings of an answer, the usual one first."""
    values = [
        answer.get("Value"),
        *_listed(answer, "Aliases", where),
        *_listed(answer, "HumanAnswers", where),
    ]
    names = [each for each in values if isinstance(each, str) and each.strip()]
    if not names:
        raise ValueError(
            f"{where}: the answer has neither a Value nor Aliases; TriviaQA's "
            "test sets are published without answers and cannot be used"
        )
    return list(dict.fromkeys(names))
