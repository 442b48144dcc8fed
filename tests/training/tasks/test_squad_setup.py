"""Which files run_squad.py reads before it trains."""

import pytest

from tests.support.models import SMALL
from tests.support.squad.squad_passages import write_squad
from tests.support.tasks.toy_task import create_starting_point, load_tokenizer
from training.config.squad_config import SquadConfig
from training.tasks.squad_setup import load_task, open_sets


@pytest.fixture
def files(tmp_path):
    """{flag: file of one question}. The one to predict has no answer."""
    answer = {"text": "boat", "answer_start": 4}
    answers = {"train_file": [answer], "predict_file": []}
    return {
        flag: str(
            write_squad(
                tmp_path / f"{flag}.json",
                [{"id": flag, "answers": of_flag}],
                "The boat.",
            )
        )
        for flag, of_flag in answers.items()
    }


def load_squad_task(files, **actions):
    """Returns the task of a command with these files."""
    config = SquadConfig.from_values(output_dir="", **files, **actions)
    starting_point = create_starting_point(config, SMALL, load_tokenizer())
    return load_task(starting_point, open_sets(starting_point))


def test_a_training_reads_only_the_questions_to_train_on(files):
    task = load_squad_task(files, do_train=True)
    (example,) = task.take_examples("train")
    assert example.qas_id == "train_file"
    assert task.sets.predict_file is None


def test_a_prediction_needs_no_answers(files):
    (example,) = load_squad_task(files, do_predict=True).take_examples("dev")
    assert example.qas_id == "predict_file"


def test_damaged_answers_stop_a_prediction_before_it_begins(files, tmp_path):
    path = tmp_path / "damaged.json"
    write_squad(path, [{"id": "q", "answers": [{"text": 5}]}], "The boat.")
    with pytest.raises(ValueError, match=r"damaged\.json.* has no 'text'"):
        load_squad_task(
            files | {"predict_file": str(path)},
            do_predict=True,
        )


def test_an_evaluation_needs_answers(files):
    with pytest.raises(ValueError, match=r"predict_file\.json"):
        load_squad_task(files, do_train=True, evaluate_each_epoch=True)
