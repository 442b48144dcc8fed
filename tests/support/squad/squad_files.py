"""Small files in SQuAD's layout, and tables of questions.

For example:

    write_squad(path, [[(4, "boat")], []], "The boat is red.")
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from data.squad.squad_examples import read_squad_examples
from data.squad.squad_questions import read_squad_file

# The fields of a question, or its answers, (start, text) each.
Question: TypeAlias = Mapping[str, Any] | Sequence[tuple[int, str]]


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
