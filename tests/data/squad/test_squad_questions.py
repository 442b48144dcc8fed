"""Questions and answers that are read from files in SQuAD's layout.

tests/data/squad/test_cells.py reads tables as other tools write them.
"""

import json

import pytest

from data.squad import answer_scoring
from data.squad.squad_examples import read_squad_examples
from data.squad.squad_questions import read_squad_file
from tests.support.squad_passages import read_examples


@pytest.mark.parametrize(
    "content, culprit",
    [
        ("{'data': 1}", "not valid JSON"),
        ('{"data": [{"paragraphs": [{"qas": []}]}]}', "'context'"),
        ('{"data": []}', "no question"),
        ('{"data": [5]}', r"data\[0\] has no 'paragraphs'"),
    ],
)
def test_what_is_not_squad_json_is_named(tmp_path, content, culprit):
    path = tmp_path / "squad.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"squad.json.*{culprit}"):
        read_squad_examples(read_squad_file(path), is_training=False)


def test_training_needs_one_answer(tmp_path):
    with pytest.raises(ValueError, match=r"qas\[0\]"):
        read_examples(tmp_path, [[]], "a b")
    with pytest.raises(ValueError, match="is_impossible"):
        read_examples(tmp_path, [[]], "a b", version_2_with_negative=True)
    question = {"answers": [], "is_impossible": True}
    (example,) = read_examples(
        tmp_path, [question], "a b", version_2_with_negative=True
    )
    assert (example.start_position, example.end_position) == (-1, -1)


@pytest.mark.parametrize("use_char_offsets", [False, True])
def test_answers_that_are_not_there_are_skipped(
    tmp_path, caplog, use_char_offsets
):
    # The last of the wrong answers has no word.
    wrong = [(0, "x"), (9, "a"), (-1, "b"), (1, " ")]
    answers = [[answer] for answer in (*wrong, (2, "b"))]
    args = tmp_path, answers, "a b\u00a0 c"
    (example,) = read_examples(*args, use_char_offsets=use_char_offsets)
    assert example.orig_answer_text == "b"
    assert "qas[3]" in caplog.text
    assert "skipped 4 of 5 questions" in caplog.text


def test_answers_near_their_place_are_counted(tmp_path, caplog):
    """As in Google's code they are used, with all the words that they touch."""
    answers = [[(5, "Anna")], [(2, "Anna")], [(1, " Anna")]]
    moved, *_ = read_examples(tmp_path, answers, "\u00e9 Anna Holm")
    assert (moved.start_position, moved.end_position) == (1, 2)
    assert "1 of 3 answers do not begin exactly at" in caplog.text


@pytest.mark.parametrize("space", ["\u00a0", "\u200b", "  "])
def test_answers_with_any_white_space_are_found_by_characters(tmp_path, space):
    answer = f"10{space}000"
    args = tmp_path, [[(9, answer)]], f"Il reste {answer} bateaux."
    (example,) = read_examples(*args, use_char_offsets=True)
    words = example.doc_tokens[
        example.start_position : example.end_position + 1
    ]
    assert "".join(words).replace(space, "") == "10000"


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
@pytest.mark.parametrize("is_flat, qas_id", [(True, "a"), (False, "51870")])
@pytest.mark.parametrize("layout", ["data", "list", "lines"])
def test_questions_of_flat_files_and_ids_that_are_numbers(
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
    (example,) = read_squad_examples(read_squad_file(path), True)
    assert (example.qas_id, example.context) == (qas_id, CONTEXT)
    assert CONTEXT[example.answer_start :] == "nine."


@pytest.mark.parametrize("answer", NOTATIONS)
@pytest.mark.parametrize("is_flat, qas_id", [(True, "a"), (False, "51870")])
def test_predictions_for_flat_files_are_scored(
    tmp_path, answer, is_flat, qas_id
):
    path = tmp_path / "flat.json"
    path.write_text(json.dumps([entry_of(answer, is_flat)]))
    scores = answer_scoring.score_predictions(
        read_squad_file(path), {qas_id: "nine"}
    )
    assert scores["exact_match"] == 100


@pytest.mark.parametrize(
    "bad", [{}, {"answer_start": 1}, {"text": ["nine", "ten"]}]
)
def test_lists_of_answers_that_do_not_match_name_their_place(tmp_path, bad):
    answers = {"text": ["nine"]} | bad
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([entry_of({"answers": answers}, False)]))
    with pytest.raises(ValueError, match=r"data\[0\].qas\[0\]"):
        read_squad_examples(read_squad_file(path), True)


PASSAGE = "A boat met a boat."


@pytest.fixture
def read_rows(tmp_path):
    """(*rows) -> the examples of a table to train on."""
    path = tmp_path / "a.csv"
    header = "question,context,answer,answer_start\n"

    def read_rows(*rows, **options):
        lines = "".join(f"q?,{PASSAGE},{row}\n" for row in rows)
        path.write_text(header + lines)
        file = read_squad_file(path)
        return read_squad_examples(file, True, **options)

    return read_rows


def test_an_answer_of_a_table_is_found_in_its_passage(read_rows):
    first, second = read_rows("met,", "boat,13")
    position = first.qas_id, first.answer_start, first.start_position
    assert position == ("2", 7, 2)
    assert (second.answer_start, second.end_position) == (13, 4)
    assert first.doc_tokens is second.doc_tokens


@pytest.mark.parametrize(
    "row, says", [("boat,", "more than once"), ("ship,", "not in the")]
)
def test_an_answer_of_a_table_has_one_place(read_rows, row, says):
    with pytest.raises(ValueError, match=f"a.csv, line 3.*{says}"):
        read_rows("met,", row)


def test_a_row_without_answer_is_impossible_in_v2(read_rows, tmp_path):
    _, none = read_rows("met,", ",", version_2_with_negative=True)
    assert none.is_impossible
    file = read_squad_file(tmp_path / "a.csv")
    scores = answer_scoring.score_predictions(file, {"2": "met", "3": ""}, True)
    assert (scores["exact"], scores["NoAns_total"]) == (100, 1)


def test_a_table_to_answer_needs_no_answers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"question,context\nq?,{PASSAGE}\n")
    (example,) = read_squad_examples(read_squad_file(path), False)
    assert example.context == PASSAGE
