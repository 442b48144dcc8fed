"""What run_ner.py reads before it trains."""

import pytest

from tests.support.models import SMALL
from tests.support.tasks import task_files
from tests.support.tasks.toy_task import create_starting_point, load_tokenizer
from training.config.ner_config import NerConfig
from training.preparation.data_file_decisions import decide_by_rows
from training.tasks.ner_setup import load_task, open_sets


def load_ner_task(folder, **flags):
    """Returns the task of a command on the sets of a folder."""
    config = NerConfig.from_values(output_dir="", data_dir=str(folder), **flags)
    starting_point = create_starting_point(config, SMALL, load_tokenizer())
    return load_task(starting_point, open_sets(starting_point))


def decide_by_file(path, **flags):
    """Returns the start before and after the rows of a file decided it."""
    config = NerConfig.from_values(
        output_dir="", data_file=str(path), do_train=True, **flags
    )
    starting_point = create_starting_point(config, SMALL, load_tokenizer())
    return starting_point, decide_by_rows(
        starting_point, open_sets(starting_point)
    )


@pytest.fixture
def documents(tmp_path):
    """A file of 20 documents, each of which is one sentence."""
    path = tmp_path / "documents.txt"
    path.write_text(
        "".join(
            f"-DOCSTART- O\n\nDocument O\n{number} B-NUM\n\n"
            for number in range(20)
        )
    )
    return path


def test_a_small_file_is_trained_on_for_more_epochs(documents):
    starting_point, decided = decide_by_file(documents)
    before = starting_point.config.fine_tuning.num_train_epochs
    assert decided.config.fine_tuning.num_train_epochs > before
    assert decided.dev_set_rule.key == ("words",)


def test_documents_as_context_keep_the_length_and_the_epochs(documents):
    starting_point, decided = decide_by_file(documents, document_context=True)
    assert decided.config == starting_point.config
    assert decided.dev_set_rule.key == ("document",)


def test_the_labels_are_those_of_the_train_set(tmp_path):
    task_files.write_entity_sets(tmp_path)
    labels = load_ner_task(tmp_path, do_train=True).labels
    assert labels[0] == "O"
    assert "B-LOC" in labels


def test_every_set_of_the_command_is_read_before_it_trains(tmp_path):
    task_files.write_entity_sets(tmp_path)
    (tmp_path / "valid.txt").write_text("a O b\nc\n")
    load_ner_task(tmp_path, do_train=True)
    with pytest.raises(ValueError, match=r"valid\.txt"):
        load_ner_task(tmp_path, do_train=True, do_eval=True)
