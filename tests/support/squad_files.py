"""Small files in SQuAD's layout.

For example:

    write_squad(path, [[(4, "boat")], []], "The boat is red.")
"""

import json


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
