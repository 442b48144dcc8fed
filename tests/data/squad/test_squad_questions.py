"""Questions and answers that are read from files in SQuAD's layout.

test_squad_questions_tables.py reads tables as other tools write them.
"""

import json

import pytest

from data.squad.squad_examples import read_squad_examples
from data.squad.squad_questions import read_squad_file


@pytest.mark.parametrize(
    ("content", "culprit"),
    [
        ("{'data': 1}", "not valid JSON"),
        ('{"data": [{"paragraphs": [{"qas": []}]}]}', "'context'"),
        ('{"data": []}', "no question"),
        ('{"data": [5]}', r"data\[0\] has no 'paragraphs'"),
    ],
)
def test_a_file_that_is_not_squad_json_is_named(tmp_path, content, culprit):
    path = tmp_path / "squad.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"squad.json.*{culprit}"):
        read_squad_examples(read_squad_file(path), is_training=False)


# As in transformers' examples, in KorQuAD 2, and in SQuAD.
CONTEXT = "The ferry leaves Corrin at nine."


NOTATIONS = [
    {"answers": {"text": ["nine"], "answer_start": [27]}},
    {"answer": {"text": "nine", "answer_start": 27}},
    {"answers": [{"text": "nine", "answer_start": 27}]},
]


def entry_of(answer, is_flat):
    """Returns the passage with its question, beside it or in `qas`."""
    # An id may be a number.
    qa = {"id": "a" if is_flat else 51870, "question": "When?", **answer}
    return {"context": CONTEXT, **(qa if is_flat else {"qas": [qa]})}


@pytest.mark.parametrize("answer", NOTATIONS)
@pytest.mark.parametrize(("is_flat", "qas_id"), [(True, "a"), (False, "51870")])
@pytest.mark.parametrize("layout", ["data", "list", "lines"])
def test_an_entry_may_be_flat_and_its_id_a_number(
    tmp_path, answer, is_flat, qas_id, layout
):
    entry = entry_of(answer, is_flat)
    path = tmp_path / ("flat.jsonl" if layout == "lines" else "flat.json")
    text = {
        "data": json.dumps({"data": [entry]}),
        "list": json.dumps([entry]),
        "lines": f"\n{json.dumps(entry)}\n",
    }[layout]
    path.write_text(text)
    (example,) = read_squad_examples(read_squad_file(path), is_training=True)
    assert (example.qas_id, example.context) == (qas_id, CONTEXT)
    assert CONTEXT[example.answer_start :] == "nine."


@pytest.mark.parametrize(
    "bad", [{}, {"answer_start": 1}, {"text": ["nine", "ten"]}]
)
def test_lists_of_answers_that_do_not_match_name_their_place(tmp_path, bad):
    answers = {"text": ["nine"]} | bad
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([entry_of({"answers": answers}, False)]))
    with pytest.raises(ValueError, match=r"qas\[0\]: .*no list 'answer_start'"):
        read_squad_examples(read_squad_file(path), is_training=True)


PASSAGE = "A boat met a boat."


def test_a_table_to_answer_needs_no_answers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"question,context\nq?,{PASSAGE}\n")
    (example,) = read_squad_examples(read_squad_file(path), is_training=False)
    assert example.context == PASSAGE
