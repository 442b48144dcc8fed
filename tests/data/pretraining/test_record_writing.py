"""Records in Google's order: their files, their casing and their documents.

tests/scripts/test_create_pretraining_data.py compares the records with
Google's.
"""

import gc

import pytest

from data.io import tfrecords
from data.pretraining.pretraining_options import InstanceOptions
from data.pretraining.record_writing import (
    complete_casing,
    create_training_instances,
    write_records_in_order,
)
from tests.support.scripted_draws import NAMES
from tests.support.shards import CORPUS, create_data_config


def test_records_in_order_go_to_the_files_in_turn(tmp_path):
    paths = [str(tmp_path / name) for name in "ab"]
    written = write_records_in_order(
        create_data_config(",".join(paths)), CORPUS
    )
    counts = [tfrecords.count_records([path]) for path in paths]
    assert sum(counts) == written.num_instances
    assert counts[0] - counts[1] in (0, 1)
    assert written.num_files == 2
    assert written.files == ",".join(paths)


@pytest.fixture
def cased_vocabulary(tmp_path):
    """A vocabulary, beside a file that says that it is cased."""
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nHarbor\n")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    return str(path)


def test_the_casing_is_that_of_the_vocabulary(cased_vocabulary):
    config = create_data_config("out", vocab_file=cased_vocabulary)
    assert config.instances.do_lower_case
    completed = complete_casing(config, is_set_by_user=False)
    assert not completed.instances.do_lower_case


def test_a_casing_that_contradicts_the_vocabulary_is_refused(cased_vocabulary):
    config = create_data_config(
        "out", vocab_file=cased_vocabulary, do_lower_case=True
    )
    with pytest.raises(ValueError, match="do_lower_case"):
        complete_casing(config, is_set_by_user=True)


@pytest.fixture
def vocab_file(tmp_path):
    """A vocabulary of words of the texts below."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(NAMES))
    return path


def create_records(vocab_file, texts, **changes):
    """Returns the records of a file for each text."""
    paths = []
    for index, text in enumerate(texts):
        path = vocab_file.parent / f"{index}.txt"
        path.write_text(text)
        paths.append(str(path))
    options = InstanceOptions(
        vocab_file=str(vocab_file),
        max_seq_length=7,
        max_predictions_per_seq=2,
        **changes,
    )
    return create_training_instances(paths, options)


def test_each_document_is_read_dupe_factor_times(vocab_file):
    records = create_records(vocab_file, ["cat\n\ndog"], dupe_factor=3)
    assert len(records) == 6


def test_a_document_continues_in_the_next_file(vocab_file):
    two_files = create_records(vocab_file, ["cat\n", "dog\n"])
    assert two_files == create_records(vocab_file, ["cat\ndog\n"])
    assert two_files != create_records(vocab_file, ["cat\n\ndog\n"])


def test_files_without_text_are_refused(vocab_file):
    with pytest.raises(ValueError, match="no text"):
        create_records(vocab_file, ["\n\n"])


def test_the_garbage_collector_is_on_after_an_error(vocab_file):
    with pytest.raises(ValueError, match="no text"):
        create_records(vocab_file, [""])
    assert gc.isenabled()
