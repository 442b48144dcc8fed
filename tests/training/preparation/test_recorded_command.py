"""What model.json records of a command."""

from tests.support.tasks.toy_task import parse_flags
from training.preparation.recorded_command import select_recorded_flags


def record_command(**command):
    """Returns the flags that model.json records of a command."""
    parsed = parse_flags(command | {"output_dir": "run"})
    return select_recorded_flags(parsed)


def test_a_recorded_command_names_no_folders():
    command = record_command(vocab_file="/home/anna/bert/vocab.txt")
    assert command["vocab_file"] == "vocab.txt"


def test_a_recorded_command_names_the_last_folder_of_a_path():
    assert record_command(data_dir="/home/anna/glue/")["data_dir"] == "glue"


def test_a_recorded_command_keeps_its_numbers():
    assert record_command(learning_rate=1e-4)["learning_rate"] == 1e-4


def test_a_recorded_command_names_no_machines():
    assert "tpu_name" not in record_command(tpu_name="annas-tpu")
