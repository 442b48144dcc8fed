"""Questions and answers that are read from files in SQuAD's layout.

test_squad_questions_tables.py reads tables as other tools write them.
"""

import json

import pytest

from data.squad.squad_examples import read_squad_examples
from data.squad.squad_questions import read_squad_file
from tests.support.squad.squad_passages import (
    FERRY,
    FERRY_ANSWERS,
    create_ferry_entry,
)


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


@pytest.mark.parametrize("answer", FERRY_ANSWERS)
@pytest.mark.parametrize(("is_flat", "qas_id"), [(True, "a"), (False, "51870")])
@pytest.mark.parametrize("layout", ["data", "list", "lines"])
def test_an_entry_may_be_flat_and_its_id_a_number(
    tmp_path, answer, is_flat, qas_id, layout
):
    entry = create_ferry_entry(answer, is_flat)
    path = tmp_path / ("flat.jsonl" if layout == "lines" else "flat.json")
    text = {
        "data": json.dumps({"data": [entry]}),
        "list": json.dumps([entry]),
        "lines": f"\n{json.dumps(entry)}\n",
    }[layout]
    path.write_text(text)
    (example,) = read_squad_examples(read_squad_file(path), is_training=True)
    assert (example.qas_id, example.context) == (qas_id, FERRY)
    assert FERRY[example.answer_start :] == "nine."


@pytest.mark.parametrize(
    "changes", [{}, {"answer_start": 1}, {"text": ["nine", "ten"]}]
)
def test_lists_of_answers_that_do_not_match_name_their_place(tmp_path, changes):
    answers = {"text": ["nine"]} | changes
    path = tmp_path / "bad.json"
    path.write_text(
        json.dumps([create_ferry_entry({"answers": answers}, False)])
    )
    with pytest.raises(ValueError, match=r"qas\[0\]: .*no list 'answer_start'"):
        read_squad_examples(read_squad_file(path), is_training=True)


PASSAGE = "A boat met a boat."


def test_a_table_to_answer_needs_no_answers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"question,context\nq?,{PASSAGE}\n")
    (example,) = read_squad_examples(read_squad_file(path), is_training=False)
    assert example.context == PASSAGE
