"""The questions of a command: to train on, and to answer."""

import pytest

from data.squad.squad_processor import SquadProcessor
from data.tables.table_formats import DEFAULT_LAYOUT
from tests.support.squad.squad_files import write_squad


def create_processor(**files):
    """Returns the processor of {name of a set: file of SQuAD v2.0}."""
    return SquadProcessor(
        files,
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
    files, set_names, caplog
):
    processor = create_processor(**files)
    for set_name in set_names:
        processor.read(set_name)
    processor.check_answers()
    (example,) = processor.take("dev")
    assert example.qas_id == "b"
    assert not caplog.messages


def test_the_right_answers_of_the_dev_set_are_held_for_its_scores(files):
    processor = create_processor(**files)
    processor.read("train")
    assert processor.squad_file is None
    processor.take("dev")
    assert processor.required_squad_file.path == files["dev"]


def test_a_file_to_evaluate_on_needs_an_answer(tmp_path):
    predict_file = write_question(tmp_path / "dev.json", "b")
    processor = create_processor(dev=predict_file)
    with pytest.raises(ValueError, match=r"dev\.json contains no right answer"):
        processor.check_answers()
