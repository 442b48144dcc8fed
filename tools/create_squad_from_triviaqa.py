r"""Converts TriviaQA's released files to a file in SQuAD's JSON format.

    python -m tools.create_squad_from_triviaqa \
        --input_file=qa/wikipedia-train.json --evidence_dir=evidence \
        --output_file=triviaqa.json

TriviaQA (Joshi et al. 2017) consists of a file of questions and a folder of
documents. Each question lists its documents and all spellings of its answer.
The paper trains on TriviaQA before it trains on SQuAD v1.1. To do so, pass the
output to run_squad.py as --train_file.
"""

import dataclasses
import functools
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from absl import logging

from data.io import text_files
from data.squad.reading import field
from files import progress
from files.atomic import atomic_open
from files.flags import flag
from files.paths import Kind
from training.command_line import cli


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Flags of the tool: the questions to read, and the file to write."""

    input_file: str = flag(
        ...,
        "TriviaQA's file of questions, such as qa/wikipedia-train.json. The "
        "file may be compressed (.gz).",
        kind=Kind.INPUT_FILE,
    )
    evidence_dir: str = flag(
        ...,
        "TriviaQA's folder of documents, with the subfolders wikipedia "
        "and web.",
        kind=Kind.DATA_FOLDER,
    )
    output_file: str = flag(
        ...,
        "The file to write, in SQuAD's JSON format. It must not exist yet.",
        kind=Kind.OUTPUT_FILE,
    )
    max_num_words: int = flag(
        400,
        "Maximum number of words to use from the beginning of a document.",
        at_least=1,
        at_most=1_000_000,
    )
    for_training: bool = flag(
        True,
        "If true, write only documents that contain the answer, and mark only "
        "its first occurrence in each document, for training. If false, write "
        "all documents with all spellings of the answer, for evaluation.",
    )


# {key of a list of documents in a question: subfolder of --evidence_dir that
# contains the documents}.
_FOLDERS = {"EntityPages": "wikipedia", "SearchResults": "web"}

_field = functools.partial(field, layout="TriviaQA")


def create_passages(
    question: dict[str, Any], where: str, config: Config, missing: list[str]
) -> Iterator[dict[str, Any]]:
    """Yields an entry of SQuAD's "data" for each document of a question.

    An entry contains the question and the beginning of the document. With
    --for_training, if this text does not contain the answer, the entry's list
    of answers is empty.

    Args:
        question: an entry of TriviaQA's "Data".
        where: file and position of the question, for error messages.
        config: flags of the tool.
        missing: list to which the function adds the names of documents whose
            files are missing.

    Raises:
        OSError: a document cannot be read.
        ValueError: the question is not in TriviaQA's layout.
    """
    found = _field(question, "Answer", dict, where)
    values = [
        found.get("Value"),
        *_listed(found, "Aliases", where),
        *_listed(found, "HumanAnswers", where),
    ]
    # All spellings of the answer, the usual spelling first.
    spellings = list(
        dict.fromkeys(x for x in values if isinstance(x, str) and x.strip())
    )
    if not spellings:
        raise ValueError(
            f"{where}: the answer has neither a Value nor Aliases; TriviaQA's "
            "test sets are published without answers and cannot be used"
        )
    # This pattern finds the first occurrence of any spelling, as whole words,
    # ignoring case. If two spellings begin at the same position, it finds the
    # longer one.
    patterns = [
        r"\s+".join(map(re.escape, each.split()))
        for each in sorted(spellings, key=len, reverse=True)
    ]
    answer = re.compile(
        rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE
    )
    for title, name, text in _read_documents(question, where, config, missing):
        answers = [{"text": each, "answer_start": -1} for each in spellings]
        if config.for_training:
            match = answer.search(text)
            answers = []
            if match:
                found = {"text": match.group(), "answer_start": match.start()}
                answers.append(found)
        qa = {
            "id": f"{_field(question, 'QuestionId', str, where)}--{name}",
            "question": _field(question, "Question", str, where),
            "answers": answers,
        }
        paragraph = {"context": text, "qas": [qa]}
        yield {"title": title, "paragraphs": [paragraph]}


def _read_documents(
    question: dict[str, Any], where: str, config: Config, missing: list[str]
) -> Iterator[tuple[str, str, str]]:
    """Yields (title, file name, beginning) of each document of a question."""
    words = rf"\s*(?:\S+\s+){{0,{config.max_num_words - 1}}}\S+"
    for kind, folder in _FOLDERS.items():
        for document in _listed(question, kind, where):
            name = _field(document, "Filename", str, where)
            root = os.path.join(config.evidence_dir, folder)
            path = os.path.normpath(os.path.join(root, name))
            if not path.startswith(os.path.join(root, "")):
                raise ValueError(
                    f"{where}: the document {name!r} is outside of {root}. "
                    "Correct its Filename in this entry"
                )
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except FileNotFoundError:
                missing.append(name)
                continue
            except ValueError:
                raise ValueError(
                    f"{where}: {name!r} is not a valid file name of a document."
                    " Correct it"
                ) from None
            if beginning := re.match(words, text):
                title = document.get("Title") or name
                yield str(title), name, beginning.group().lstrip()


def _listed(mapping: dict[str, Any], name: str, where: str) -> list[Any]:
    """Returns the list `mapping[name]`, or [] if it is missing or null."""
    if mapping.get(name) is None:
        return []
    return _field(mapping, name, list, where)


def main(config: Config) -> None:
    """Writes the entries of `create_passages` that list an answer."""
    if os.path.exists(config.output_file):
        raise FileExistsError(
            f"--output_file={config.output_file} already exists; remove it or "
            "use another path"
        )
    path, missing = config.input_file, list[str]()
    questions = _field(text_files.read_json(path), "Data", list, path)
    num_written = num_passages = 0
    with atomic_open(config.output_file) as file:
        file.write(b'{"version": "1.1", "data": [')
        for number, question in enumerate(
            progress.track(questions, len(questions), "question", "Reading")
        ):
            where = f"{path}: Data[{number}]"
            for entry in create_passages(question, where, config, missing):
                num_passages += 1
                if not entry["paragraphs"][0]["qas"][0]["answers"]:
                    continue
                file.write(b",\n" if num_written else b"\n")
                file.write(json.dumps(entry).encode())
                num_written += 1
        file.write(b"\n]}\n")
        if not num_written:
            what = "contains an answer to" if num_passages else "belongs to"
            raise ValueError(
                f"no document in --evidence_dir={config.evidence_dir} {what} "
                f"the questions of {path}; use the folder that contains "
                "TriviaQA's folders wikipedia and web"
            )
    if missing:
        logging.warning(
            "Number of documents that are missing in %s: %d",
            config.evidence_dir,
            len(missing),
        )
    print(
        f"{num_written:,} of {num_passages:,} passages written to "
        f"{config.output_file}"
    )


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
