"""The sentences that the flags of run_ner.py select."""

import pytest

from command_line.config_values import create_config
from tests.support.tasks import task_files
from training.config.ner_config import NerConfig
from training.tasks.ner_setup import read_sets


def load(folder, **flags):
    """Returns the processor of a command on the sets of a folder."""
    return read_sets(
        create_config(NerConfig, output_dir="", data_dir=str(folder), **flags)
    )


def test_the_labels_are_those_of_the_train_set(tmp_path):
    task_files.write_entity_sets(tmp_path)
    labels = load(tmp_path, do_train=True).read_labels()
    assert labels[0] == "O"
    assert "B-LOC" in labels


def test_every_set_of_the_command_is_read_before_it_trains(tmp_path):
    task_files.write_entity_sets(tmp_path)
    (tmp_path / "valid.txt").write_text("a O b\nc\n")
    load(tmp_path, do_train=True)
    with pytest.raises(ValueError, match=r"valid\.txt"):
        load(tmp_path, do_train=True, do_eval=True)
