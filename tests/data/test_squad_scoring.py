"""SQuAD's scores, against those of the official scripts."""

import json

import pytest

from data import squad_scoring
from tests import golden


@pytest.mark.parametrize("case", golden.cases("squad_scoring"))
def test_published_predictions_score_as_published(case):
    data_file = case["folder"] / case["data_file"]
    if not data_file.exists():
        pytest.skip(f"the shared data is not here: {case['data_file']}")
    predictions = json.loads((case["folder"] / case["predictions"]).read_text())
    is_v2 = "is_impossible" in data_file.read_text()
    scores = squad_scoring.score_predictions(data_file, predictions, is_v2)
    exact = scores["exact" if is_v2 else "exact_match"]
    assert exact == pytest.approx(case["exact_match"], abs=1e-6)
    assert scores["f1"] == pytest.approx(case["f1"], abs=1e-6)


@pytest.mark.parametrize(
    "right, predicted, exact, f1",
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
def test_one_answer(right, predicted, exact, f1):
    assert squad_scoring.compute_exact(right, predicted) == exact
    assert squad_scoring.compute_f1(right, predicted) == pytest.approx(f1)


@pytest.fixture
def data_file(tmp_path):
    answers = {
        "q1": ["x", "red x"],
        "q2": ["y"],
        "q3": [],
        "q4": [],
        "q5": ["z"],
    }
    qas = [
        {"id": k, "answers": [{"text": text} for text in v]}
        for k, v in answers.items()
    ]
    content = {"data": [{"paragraphs": [{"context": "", "qas": qas}]}]}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(content))
    return path


def test_v2_parts_and_best_threshold(data_file):
    predictions = {"q1": "red", "q2": "y", "q3": "w", "q4": "", "q5": "z"}
    # Answering all but q3 is best for F1; q1 does not help exact match.
    odds = {"q2": -3.0, "q1": -1.0, "q3": 0.5, "q5": -2.0, "q4": 0.0, "no": -9}
    scores = squad_scoring.score_predictions(data_file, predictions, True, odds)
    assert scores == pytest.approx(
        {
            "exact": 60.0,
            "f1": 100 * (2 / 3 + 1 + 0 + 1 + 1) / 5,
            "total": 5,
            "HasAns_exact": 200 / 3,
            "HasAns_f1": 100 * (2 / 3 + 1 + 1) / 3,
            "HasAns_total": 3,
            "NoAns_exact": 50.0,
            "NoAns_f1": 50.0,
            "NoAns_total": 2,
            "best_exact": 80.0,
            "best_exact_thresh": -2.0,
            "best_f1": 100 * (2 + 2 + 2 / 3) / 5,
            "best_f1_thresh": -1.0,
        }
    )


def test_missing_predictions(data_file, caplog):
    scores = squad_scoring.score_predictions(data_file, {"q2": "y"})
    assert scores == {"exact_match": 20.0, "f1": 20.0, "total": 5}
    assert "4 of 5 questions" in caplog.text
    # As the official script of v2.0 has it, only what is answered counts.
    scores = squad_scoring.score_predictions(data_file, {"q2": "y"}, True)
    assert scores["exact"] == 100.0
    assert "NoAns_exact" not in scores


def test_a_file_without_answers_cannot_be_scored(data_file):
    data_file.write_text(data_file.read_text().replace('"text"', '"t"'))
    with pytest.raises(ValueError, match=r"qas\[0\] has no 'text'"):
        squad_scoring.score_predictions(data_file, {})
    data_file.write_text('{"data": []}')
    with pytest.raises(ValueError, match="holds no answers"):
        squad_scoring.score_predictions(data_file, {})


def test_predictions_of_another_file(data_file):
    with pytest.raises(ValueError, match="no prediction is for a question of"):
        squad_scoring.score_predictions(data_file, {"other": "x"}, True)


def test_best_answers():
    nbest = {"q1": [{"text": ""}, {"text": "x"}], "q2": [{"text": ""}]}
    assert squad_scoring.best_answers(nbest) == {"q1": "x", "q2": ""}
