"""Questions about small passages: their files, examples, windows and answers.

For example:

    write_squad(path, [[(4, "boat")], []], "The boat is red.")
    examples, windows = create_windows(tmp_path, tokenizer, "The boat.")
    check_bytes(passage, model.answer("Who?", passage))
"""

import csv
import dataclasses
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from data.squad.passage_windows import SquadFeatures, create_squad_features
from data.squad.squad_examples import WORD, SquadExample, read_squad_examples
from data.squad.squad_options import WindowOptions
from data.squad.squad_questions import read_squad_file
from data.text.tokenization import FullTokenizer

# The fields of a question, or its answers, (start, text) each.
Question: TypeAlias = Mapping[str, Any] | Sequence[tuple[int, str]]

FERRY = "The ferry leaves Corrin at nine."
# The answer to "When?", as in transformers' examples, in KorQuAD 2, in SQuAD.
FERRY_ANSWERS: Sequence[Mapping[str, Any]] = [
    {"answers": {"text": ["nine"], "answer_start": [27]}},
    {"answer": {"text": "nine", "answer_start": 27}},
    {"answers": [{"text": "nine", "answer_start": 27}]},
]


def create_ferry_entry(
    answer: Mapping[str, Any], is_flat: bool
) -> dict[str, Any]:
    """Returns the passage FERRY with its question, beside it or in `qas`."""
    # An id may be a number.
    question = {"id": "a" if is_flat else 51870, "question": "When?", **answer}
    return {"context": FERRY, **(question if is_flat else {"qas": [question]})}


def write_squad(
    path: Path, questions: Iterable[Question], context: str = ""
) -> Path:
    """Writes questions about one passage; returns the path.

    Each is a dict of its fields, or a list of its answers.
    """
    qas = []
    for number, fields in enumerate(questions):
        if not isinstance(fields, Mapping):
            answers = [
                {"text": text, "answer_start": start} for start, text in fields
            ]
            fields = {"answers": answers}
        qas.append({"id": f"q{number}", "question": "q", **fields})
    content = {"data": [{"paragraphs": [{"context": context, "qas": qas}]}]}
    path.write_text(json.dumps(content))
    return path


def write_questions(
    path: Path, row: Mapping[str, object], *more: Mapping[str, object]
) -> Path:
    """Writes the rows of a table, {column: cell} each, as CSV. Returns path."""
    file = io.StringIO()
    writer = csv.DictWriter(file, row.keys())
    writer.writeheader()
    writer.writerows([row, *more])
    path.write_text(file.getvalue())
    return path


def read_answers(path: Path, **options: Any) -> list[tuple[str, int]]:
    """Returns (text, first character) of the answers that a table trains."""
    file = read_squad_file(path)
    examples = read_squad_examples(file, is_training=True, **options)
    return [
        (example.orig_answer_text, example.answer_start) for example in examples
    ]


OPTIONS = WindowOptions(max_seq_length=12, doc_stride=4, max_query_length=4)


def read_examples(
    folder: Path,
    questions: Iterable[Question],
    context: str,
    training: bool = True,
    **options: Any,
) -> list[SquadExample]:
    """Writes questions about a passage, and returns their examples."""
    path = write_squad(folder / "squad.json", questions, context)
    return read_squad_examples(
        read_squad_file(path), is_training=training, **options
    )


def create_windows(
    folder: Path,
    tokenizer: FullTokenizer,
    context: str,
    *answers: tuple[int, str],
    training: bool = False,
    **options: Any,
) -> tuple[list[SquadExample], list[SquadFeatures]]:
    """Returns the examples and the windows of a passage with one question."""
    examples = read_examples(folder, [[*answers]], context, training)
    windowing = dataclasses.replace(OPTIONS, **options)
    windows = create_squad_features(examples, tokenizer, windowing, training)
    return examples, list(windows)


def check_bytes(context: str, answer: Mapping[str, Any]) -> None:
    """Checks that the bytes are the answer's, white space aside."""
    if answer["start_byte"] < 0:
        assert answer["answer"] in ("", "empty")
        assert answer["end_byte"] == -1
        return
    cut = context.encode()[answer["start_byte"] : answer["end_byte"]].decode()
    words = [part.group() for part in WORD.finditer(cut)]
    assert words == WORD.findall(answer["answer"])
    assert words
