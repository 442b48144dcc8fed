"""The questions of a command: to train on, and to answer."""

import pytest

from data.squad.squad_sets import SquadSets
from data.tables.table_layout import DEFAULT_LAYOUT
from tests.support.squad.squad_passages import write_squad


def create_sets(train=None, dev=None):
    """Returns the sets of files of SQuAD v2.0."""
    return SquadSets(
        train,
        dev,
        DEFAULT_LAYOUT,
        version_2_with_negative=True,
        use_char_offsets=False,
    )


def write_question(path, name, *answers):
    """Writes a file of one question. Returns its path."""
    question = {
        "id": name,
        "answers": [{"text": text, "answer_start": 4} for text in answers],
        "is_impossible": False,
    }
    return str(write_squad(path, [question], "The boat."))


@pytest.fixture
def files(tmp_path):
    """{name of a set: file} of a train set and a dev set of other questions."""
    return {
        "train": write_question(tmp_path / "train.json", "a", "boat"),
        "dev": write_question(tmp_path / "dev.json", "b", "boat"),
    }


@pytest.mark.parametrize("set_names", [["train", "dev"], ["dev"]])
def test_the_questions_to_answer_may_have_other_ids_than_the_train_set(
    files, set_names
):
    sets = create_sets(**files)
    for set_name in set_names:
        sets.read(set_name)
    (example,) = sets.take("dev")
    assert example.qas_id == "b"


def test_the_right_answers_of_the_dev_set_are_held_for_its_scores(files):
    sets = create_sets(**files)
    sets.take("dev")
    assert sets.read_predict_file().path == files["dev"]
    gold_answers = sets.read_gold_answers()
    assert gold_answers.texts_of_questions == [("b", ["boat"])]
    assert sets.read_gold_answers() is gold_answers


@pytest.mark.parametrize(
    ("set_name", "flag"), [("train", "--train_file"), ("dev", "--predict_file")]
)
def test_a_set_without_a_file_is_an_error(set_name, flag):
    with pytest.raises(ValueError, match=flag):
        create_sets().read(set_name)
