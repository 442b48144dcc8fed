"""The questions of a command, read at once: to train on, and to answer."""

import pytest

from data.squad.squad_reader import SquadReader
from data.tables.table_formats import DEFAULT_LAYOUT
from tests.support.squad.squad_files import write_squad


def read_files(train_file, predict_file):
    """Reads files of SQuAD v2.0, and checks that the second has answers."""
    return SquadReader.read(
        train_file,
        predict_file,
        DEFAULT_LAYOUT,
        version_2_with_negative=True,
        use_char_offsets=False,
        needs_answers=True,
    )


def write_question(path, name, *answers):
    """Writes a file of one question. Returns its path."""
    question = {
        "id": name,
        "answers": [{"text": text, "answer_start": 4} for text in answers],
        "is_impossible": False,
    }
    return str(write_squad(path, [question], "The boat."))


def test_the_questions_to_answer_may_have_other_ids_than_the_train_set(
    tmp_path, caplog
):
    train_file = write_question(tmp_path / "train.json", "a", "boat")
    predict_file = write_question(tmp_path / "dev.json", "b", "boat")
    for reader in (
        read_files(train_file, predict_file),
        read_files(None, predict_file),
    ):
        (example,) = reader.take("eval")
        assert example.qas_id == "b"
    assert not caplog.messages


def test_a_file_to_evaluate_on_needs_an_answer(tmp_path):
    predict_file = write_question(tmp_path / "dev.json", "b")
    with pytest.raises(ValueError, match=r"dev\.json contains no right answer"):
        read_files(None, predict_file)
