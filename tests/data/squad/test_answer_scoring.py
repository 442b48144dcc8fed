"""SQuAD's scores, against those of the official scripts."""

import json

import pytest

from data.squad import answer_scoring
from data.squad.squad_questions import read_squad_file
from tests.support import golden
from tests.support.log_lines import logged_warnings
from tests.support.squad.squad_passages import (
    FERRY_ANSWERS,
    create_ferry_entry,
    write_squad,
)


def score(path, predictions, is_v2=False, **outputs):
    """Returns the scores of the predictions for a file."""
    gold_answers = answer_scoring.collect_gold_answers(
        read_squad_file(path), version_2_with_negative=is_v2
    )
    return answer_scoring.score_predictions(
        gold_answers, predictions, **outputs
    )


@pytest.mark.parametrize("case", golden.case_params("squad_scoring"))
def test_published_predictions_score_as_published(case):
    data_file = case["folder"] / case["data_file"]
    if not data_file.exists():
        pytest.skip(f"the shared data is not here: {case['data_file']}")
    predictions = json.loads((case["folder"] / case["predictions"]).read_text())
    is_v2 = "is_impossible" in data_file.read_text()
    scores = score(data_file, predictions, is_v2=is_v2)
    exact = scores["exact" if is_v2 else "exact_match"]
    assert exact == pytest.approx(case["exact_match"], abs=1e-6)
    assert scores["f1"] == pytest.approx(case["f1"], abs=1e-6)


@pytest.mark.parametrize(
    ("right", "predicted", "exact", "f1"),
    [
        ("The Panthers!", "panthers", 1, 1),
        ("the red car", "a red bus", 0, 0.5),
        ("red red car", "red car car car", 0, 4 / 7),
        ("a", "the", 1, 1),
        ("", "car", 0, 0),
        ("x-ray", "x ray", 0, 0),
        ("Theodore's theory", "theodores  theory", 1, 1),
    ],
)
def test_an_answer_scores_as_in_the_official_script(
    right, predicted, exact, f1
):
    assert answer_scoring.compute_exact(right, predicted) == exact
    assert answer_scoring.compute_f1(right, predicted) == pytest.approx(f1)


@pytest.fixture
def data_file(tmp_path):
    """A file of five questions, two of them without an answer."""
    answers = [[("", "x"), ("", "red x")], [("", "y")], [], [], [("", "z")]]
    return write_squad(tmp_path / "dev.json", answers)


@pytest.fixture
def v2_scores(data_file):
    """The scores of v2.0 of five predictions."""
    predictions = {"q0": "red", "q1": "y", "q2": "w", "q3": "", "q4": "z"}
    # The search for the threshold takes the best answer that is one.
    nbest = {
        qas_id: [{"text": ""}, {"text": text}, {"text": "other" * bool(text)}]
        for qas_id, text in predictions.items()
    }
    odds = {"q1": -3.0, "q0": -1.0, "q2": 0.5, "q4": -2.0, "q3": 0.0, "no": -9}
    return score(
        data_file, predictions, is_v2=True, nbest=nbest, null_odds=odds
    )


@pytest.mark.parametrize(
    ("prefix", "num_questions", "exact", "f1"),
    [
        ("", 5, 60, 100 * (2 / 3 + 1 + 0 + 1 + 1) / 5),
        ("HasAns_", 3, 200 / 3, 100 * (2 / 3 + 1 + 1) / 3),
        ("NoAns_", 2, 50, 50),
    ],
    ids=["all", "answered", "without an answer"],
)
def test_v2_scores_questions_with_and_without_an_answer(
    v2_scores, prefix, num_questions, exact, f1
):
    assert v2_scores[f"{prefix}total"] == num_questions
    assert v2_scores[f"{prefix}exact"] == pytest.approx(exact)
    assert v2_scores[f"{prefix}f1"] == pytest.approx(f1)


def test_v2_finds_the_threshold_of_the_best_exact_match(v2_scores):
    """An answer to q0, which is only half right, does not help."""
    assert v2_scores["best_exact"] == pytest.approx(80)
    assert v2_scores["best_exact_thresh"] == -2.0


def test_v2_finds_the_threshold_of_the_best_f1(v2_scores):
    """Answering all but q2 is the best."""
    expected = 100 * (2 / 3 + 1 + 1 + 1 + 1) / 5
    assert v2_scores["best_f1"] == pytest.approx(expected)
    assert v2_scores["best_f1_thresh"] == -1.0


def test_a_question_without_prediction_is_wrong_and_counted(data_file, caplog):
    scores = score(data_file, {"q1": "y"})
    assert scores["exact_match"] == scores["f1"] == 100 / 3
    assert any("2 questions" in text for text in logged_warnings(caplog))


def test_in_v2_a_question_without_prediction_is_an_error(data_file):
    """The official script of v2.0 fails in the same case."""
    with pytest.raises(ValueError, match=r"4 questions .*'q0'"):
        score(data_file, {"q1": "y"}, is_v2=True)


def test_questions_without_gold_answers_are_counted_and_not_scored(
    tmp_path, caplog
):
    answered = {"answers": [{"text": "x"}], "is_impossible": False}
    unanswerable = {"answers": [], "is_impossible": True}
    unknown = {"answers": [], "is_impossible": False}
    path = write_squad(
        tmp_path / "dev.json", [answered, unknown, unanswerable, answered]
    )
    predictions = {"q0": "x", "q1": "x", "q2": "", "q3": "y"}
    scores = score(path, predictions)
    counts = {"total": 2, "num_without_gold_answers": 2}
    assert scores == {"exact_match": 50.0, "f1": 50.0} | counts
    (warning,) = logged_warnings(caplog)
    assert "2 questions" in warning
    # The official script of v2.0 reads the answers, not is_impossible.
    scores = score(path, predictions, is_v2=True)
    assert (scores["total"], scores["NoAns_total"]) == (4, 2)
    assert scores["exact"] == scores["NoAns_exact"] == 50.0


def test_unanswerable_questions_alone_are_scored(tmp_path):
    path = tmp_path / "dev.json"
    unanswerable = {"answers": [], "is_impossible": True}
    write_squad(path, [unanswerable] * 2)
    scores = score(path, {"q0": "x", "q1": ""}, is_v2=True)
    assert scores["exact"] == scores["NoAns_f1"] == 50.0
    assert "HasAns_exact" not in scores


@pytest.mark.parametrize("is_v2", [False, True])
@pytest.mark.parametrize(
    "questions",
    [[], [{"answers": []}], [{"answers": [], "is_impossible": False}]],
)
def test_a_file_without_answers_cannot_be_scored(tmp_path, questions, is_v2):
    path = write_squad(tmp_path / "dev.json", questions)
    with pytest.raises(
        answer_scoring.NoGoldAnswersError, match="contains no right answers"
    ):
        answer_scoring.collect_gold_answers(
            read_squad_file(path), version_2_with_negative=is_v2
        )


def test_a_file_of_questions_without_answers_has_no_gold_answers(tmp_path):
    """As the test sets that are published without the field."""
    path = write_squad(tmp_path / "test.json", [{}, {"answers": None}])
    with pytest.raises(answer_scoring.NoGoldAnswersError, match="'answers'"):
        answer_scoring.collect_gold_answers(read_squad_file(path))


@pytest.mark.parametrize("damaged", [{}, {"answers": [{"text": 5}]}])
def test_damaged_answers_do_not_count_as_none(tmp_path, damaged):
    answered = {"answers": [{"text": "x"}]}
    path = write_squad(tmp_path / "dev.json", [answered, damaged])
    with pytest.raises(ValueError, match=r"qas\[1\]") as caught:
        answer_scoring.collect_gold_answers(read_squad_file(path))
    assert not isinstance(caught.value, answer_scoring.NoGoldAnswersError)


def test_questions_with_one_id_count_as_in_the_official_scripts(tmp_path):
    """v1.1's script counts each, v2.0's the last."""
    path = write_squad(
        tmp_path / "dev.json",
        [{"id": "q", "answers": [{"text": text}]} for text in ("x", "y", "y")],
    )
    scores = score(path, {"q": "x"})
    assert scores == {"exact_match": 100 / 3, "f1": 100 / 3, "total": 3}
    scores = score(path, {"q": "x"}, is_v2=True)
    assert (scores["exact"], scores["total"]) == (0.0, 1)


@pytest.mark.parametrize("answer", FERRY_ANSWERS)
@pytest.mark.parametrize(("is_flat", "qas_id"), [(True, "a"), (False, "51870")])
def test_predictions_for_flat_files_are_scored(
    tmp_path, answer, is_flat, qas_id
):
    path = tmp_path / "flat.json"
    path.write_text(json.dumps([create_ferry_entry(answer, is_flat)]))
    scores = score(path, {qas_id: "nine"})
    assert scores["exact_match"] == 100
