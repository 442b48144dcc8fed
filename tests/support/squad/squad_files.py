"""Small files in SQuAD's layout, and tables of questions.

For example:

    write_squad(path, [[(4, "boat")], []], "The boat is red.")
"""

import csv
import io
import json

from data.squad.squad_examples import read_squad_examples
from data.squad.squad_questions import read_squad_file


def write_squad(path, questions, context=""):
    """Writes questions about one passage; returns the path.

    Each is a dict of its fields, or a list of its answers, (start, text) each.
    """
    qas = []
    for number, fields in enumerate(questions):
        if isinstance(fields, list):
            answers = [
                {"text": text, "answer_start": start} for start, text in fields
            ]
            fields = {"answers": answers}
        qas.append({"id": f"q{number}", "question": "q"} | fields)
    content = {"data": [{"paragraphs": [{"context": context, "qas": qas}]}]}
    path.write_text(json.dumps(content))
    return path


def write_questions(path, row, *more):
    """Writes the rows of a table, {column: cell} each, as CSV. Returns path."""
    file = io.StringIO()
    writer = csv.DictWriter(file, row.keys())
    writer.writeheader()
    writer.writerows([row, *more])
    path.write_text(file.getvalue())
    return path


def read_answers(path, **options):
    """Returns (text, first character) of the answers that a table trains."""
    file = read_squad_file(path)
    examples = read_squad_examples(file, True, **options)
    return [
        (example.orig_answer_text, example.answer_start) for example in examples
    ]
