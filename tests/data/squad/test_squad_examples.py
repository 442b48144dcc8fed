"""Examples of SQuAD's questions, and where their answers are."""

import pytest

from data.squad import answer_scoring
from data.squad.squad_examples import read_squad_examples
from data.squad.squad_questions import read_squad_file
from tests.support.log_lines import logged_warnings
from tests.support.squad.squad_passages import read_examples


def test_training_needs_one_answer(tmp_path):
    with pytest.raises(ValueError, match=r"qas\[0\]: .*exactly one answer"):
        read_examples(tmp_path, [[]], "a b")


def test_in_v2_training_needs_an_answer_or_a_mark(tmp_path):
    with pytest.raises(ValueError, match="has no 'is_impossible' of type bool"):
        read_examples(tmp_path, [[]], "a b", version_2_with_negative=True)


def test_an_impossible_question_has_no_answer(tmp_path):
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
    """As in Google's code, such answers get all words that they touch."""
    answers = [[(5, "Anna")], [(2, "Anna")], [(1, " Anna")]]
    moved, *_ = read_examples(tmp_path, answers, "\u00e9 Anna Holm")
    assert (moved.start_position, moved.end_position) == (1, 2)
    (warning,) = logged_warnings(caplog)
    assert "1 of 3 answers" in warning


@pytest.mark.parametrize("space", ["\u00a0", "\u200b", "  "])
def test_answers_with_any_white_space_are_found_by_characters(tmp_path, space):
    answer = f"10{space}000"
    args = tmp_path, [[(9, answer)]], f"Il reste {answer} bateaux."
    (example,) = read_examples(*args, use_char_offsets=True)
    words = example.doc_tokens[
        example.start_position : example.end_position + 1
    ]
    assert "".join(words).replace(space, "") == "10000"


PASSAGE = "A boat met a boat."


@pytest.fixture
def read_table_examples(tmp_path):
    """(*rows) -> the examples of a table to train on."""
    path = tmp_path / "a.csv"
    header = "question,context,answer,answer_start\n"

    def read_table_examples(*rows, **options):
        lines = "".join(f"q?,{PASSAGE},{row}\n" for row in rows)
        path.write_text(header + lines)
        file = read_squad_file(path)
        return read_squad_examples(file, is_training=True, **options)

    return read_table_examples


def test_an_answer_of_a_table_is_found_in_its_passage(read_table_examples):
    first, second = read_table_examples("met,", "boat,13")
    position = first.qas_id, first.answer_start, first.start_position
    assert position == ("2", 7, 2)
    assert (second.answer_start, second.end_position) == (13, 4)
    assert first.doc_tokens is second.doc_tokens


@pytest.mark.parametrize(
    ("row", "says"), [("boat,", "more than once"), ("ship,", "not in the")]
)
def test_an_answer_of_a_table_has_one_place(read_table_examples, row, says):
    with pytest.raises(ValueError, match=f"a.csv, line 3.*{says}"):
        read_table_examples("met,", row)


def test_a_row_without_answer_is_impossible_in_v2(
    read_table_examples, tmp_path
):
    _, none = read_table_examples("met,", ",", version_2_with_negative=True)
    assert none.is_impossible
    file = read_squad_file(tmp_path / "a.csv")
    gold_answers = answer_scoring.collect_gold_answers(
        file, version_2_with_negative=True
    )
    scores = answer_scoring.score_predictions(
        gold_answers, {"2": "met", "3": ""}
    )
    assert (scores["exact"], scores["NoAns_total"]) == (100, 1)
