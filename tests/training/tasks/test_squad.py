"""What the task of run_squad.py makes of its questions."""

import json

import numpy as np
import pytest

from data.squad.squad_sets import SquadSets
from data.tables.table_layout import DEFAULT_LAYOUT
from model_folders.scores import Scores
from modeling import BertSpanLabeler
from tests.support.log_lines import logged_warnings
from tests.support.models import SMALL
from tests.support.tasks.task_sets import create_set
from tests.support.tasks.toy_task import create_starting_point, load_tokenizer
from training.config.squad_config import SquadConfig
from training.tasks.squad import SquadTask

LENGTH = 24
PASSAGE = "the man saw a river ."
ANSWER = "a river"


def write_question(path, answers):
    """Writes a SQuAD file with one question, whose answers may be []."""
    qa = {"id": "q", "question": "what ?"}
    if answers:
        answer_start = PASSAGE.index(ANSWER)
        qa["answers"] = [{"text": ANSWER, "answer_start": answer_start}]
    paragraph = {"context": PASSAGE, "qas": [qa]}
    data = {"version": "1.1", "data": [{"paragraphs": [paragraph]}]}
    path.write_text(json.dumps(data))
    return str(path)


@pytest.fixture
def create_task(tmp_path):
    """A function (answers) -> task whose files contain one question."""

    def create_squad_task(answers=(ANSWER,)):
        predict_file = write_question(tmp_path / "dev.json", answers)
        sets = SquadSets(
            write_question(tmp_path / "train.json", [ANSWER]),
            predict_file,
            DEFAULT_LAYOUT,
            version_2_with_negative=False,
            use_char_offsets=False,
        )
        config = SquadConfig.from_values(
            output_dir=str(tmp_path),
            max_seq_length=LENGTH,
            doc_stride=8,
            max_query_length=8,
        )
        return SquadTask(
            create_starting_point(config, SMALL, load_tokenizer()), sets
        )

    return create_squad_task


def predict_words(task, first_word, last_word):
    """Returns (split, batches) of outputs that find words of the passage."""
    examples = task.take_examples("dev")
    windows = [window for _, window in task.encode("dev", examples)]
    (window,) = windows
    words = [*PASSAGE.split()]
    place_of = {
        words[word]: position
        for position, word in window.token_to_orig_map.items()
    }
    outputs = {
        name: np.full((1, LENGTH), -5.0, "float32")
        for name in ("start_logits", "end_logits")
    }
    outputs["start_logits"][0, place_of[first_word]] = 5.0
    outputs["end_logits"][0, place_of[last_word]] = 5.0
    features = {"unique_ids": np.array([window.unique_id])}
    return create_set("dev", examples, windows), [(features, outputs)]


def test_a_window_contains_the_question_and_the_passage(create_task):
    task = create_task()
    examples = task.take_examples("train")
    ((_, window),) = task.encode("train", examples)
    assert window.tokens == [
        "[CLS]",
        *task.tokenizer.tokenize("what ?"),
        "[SEP]",
        *task.tokenizer.tokenize(PASSAGE),
        "[SEP]",
    ]


def test_only_train_records_contain_the_answer(create_task):
    task = create_task()
    assert "start_positions" in task.feature_spec("train")
    assert "start_positions" not in task.feature_spec("dev")


def test_the_model_finds_spans(create_task):
    assert isinstance(create_task().create_model(SMALL), BertSpanLabeler)


def test_the_right_span_has_the_best_scores(create_task):
    task = create_task()
    scores = task.compute_scores(*predict_words(task, "a", "river"))
    assert scores.overall["exact_match"] == 100.0
    assert scores.overall["f1"] == 100.0


def test_a_longer_span_shares_words_with_the_answer(create_task):
    task = create_task()
    scores = task.compute_scores(*predict_words(task, "saw", "river"))
    assert scores.overall["exact_match"] == 0.0
    # Articles do not count: one of two words is right, and all are found.
    assert scores.overall["f1"] == pytest.approx(200 / 3)


def test_the_answers_are_written_as_by_googles_script(create_task, tmp_path):
    task = create_task()
    task.write_and_score_predictions(
        *predict_words(task, "a", "river"), str(tmp_path)
    )
    answers = json.loads((tmp_path / "predictions.json").read_text())
    assert answers == {"q": ANSWER}


def test_the_null_odds_are_only_written_for_version_2(create_task, tmp_path):
    task = create_task()
    task.write_and_score_predictions(
        *predict_words(task, "a", "river"), str(tmp_path)
    )
    assert (tmp_path / "nbest_predictions.json").exists()
    assert not (tmp_path / "null_odds.json").exists()


def test_questions_without_answers_are_answered_and_not_scored(
    create_task, tmp_path, caplog
):
    task = create_task(answers=())
    encoded_set, batches = predict_words(task, "a", "river")
    scores = task.write_and_score_predictions(
        encoded_set, batches, str(tmp_path)
    )
    assert scores == Scores()
    assert (tmp_path / "predictions.json").exists()
    (warning,) = logged_warnings(caplog)
    assert "not scored" in warning


def test_an_epoch_is_as_long_as_its_questions(create_task):
    """A question may have several windows."""
    train_set = create_set("train", ["a question"], ["a window"] * 3)
    assert create_task().epoch_length(train_set) == 1
