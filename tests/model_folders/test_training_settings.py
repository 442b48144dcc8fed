"""The training settings, as an object and as an entry of model.json."""

import pytest

from model_folders.training_settings import TrainingSettings

# As a fine-tuning writes them: the head precedes the sets.
RECORDED = {
    "bilstm": False,
    "labels": ["no", "yes"],
    "an entry of a user": 3,
    "data": [["train", "rows.csv", 9, 7]],
    "flags": {"seed": 1},
}


def test_training_settings_are_split_by_their_names():
    settings = TrainingSettings.from_entry(RECORDED)
    assert [*settings.head] == ["labels", "an entry of a user"]
    assert [*settings.inputs] == ["bilstm", "data", "flags"]


@pytest.mark.parametrize(
    "entry", [RECORDED, {"input_file": [], "flags": {}}, {"labels": None}, {}]
)
def test_training_settings_are_written_in_the_order_of_the_file(entry):
    written = TrainingSettings.from_entry(entry).to_entry()
    assert [*written.items()] == [*entry.items()]


def test_training_settings_of_no_run_are_empty():
    assert TrainingSettings.from_entry({}).is_empty
    assert not TrainingSettings.from_entry({"labels": None}).is_empty
