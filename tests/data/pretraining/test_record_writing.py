"""Records in Google's order, or at scale: their files and their number.

tests/scripts/test_create_pretraining_data.py compares the records with
Google's.
"""

import os

import pytest

from data.io import tfrecord_files
from data.pretraining.pretraining_data_config import PretrainingDataConfig
from data.pretraining.record_writing import (
    complete_casing,
    write_records_at_scale,
    write_records_in_order,
)
from tests.support.shards import CORPUS, VOCAB


def config_of(output_file, **flags):
    """Returns the flags of a command that reads the corpus once."""
    return PretrainingDataConfig.from_values(
        output_file=output_file,
        **{
            "input_file": ",".join(CORPUS),
            "vocab_file": VOCAB,
            "dupe_factor": 1,
        }
        | flags,
    )


def test_records_in_order_go_to_the_files_in_turn(tmp_path):
    paths = [str(tmp_path / name) for name in "ab"]
    written = write_records_in_order(config_of(",".join(paths)), CORPUS)
    counts = [tfrecord_files.count_records([path]) for path in paths]
    assert sum(counts) == written.num_instances
    assert counts[0] - counts[1] in (0, 1)
    assert written.num_files == 2
    assert written.files == ",".join(paths)


def test_records_at_scale_are_named_by_the_pattern_of_their_files(tmp_path):
    output_file = str(tmp_path / "out")
    config = config_of(output_file, num_shards=2)
    written = write_records_at_scale(config, CORPUS)
    shards = [f"{output_file}-0000{index}-of-00002" for index in (0, 1)]
    assert tfrecord_files.count_records(shards) == written.num_instances
    assert written.num_files == 2
    assert written.files == f"{output_file}-*-of-00002"
    assert written.is_new


def test_records_at_scale_are_not_written_again(tmp_path):
    config = config_of(str(tmp_path / "out"), num_shards=1)
    first = write_records_at_scale(config, CORPUS)
    again = write_records_at_scale(config, CORPUS)
    assert again == first._replace(is_new=False)


@pytest.mark.parametrize("output_file", ["a,b", "gs://bucket/out"])
def test_records_at_scale_need_one_local_path(
    output_file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    config = config_of(output_file, num_shards=1)
    with pytest.raises(ValueError, match=f"--output_file={output_file} must"):
        write_records_at_scale(config, CORPUS)
    assert not os.listdir(tmp_path)


@pytest.fixture
def cased_vocabulary(tmp_path):
    """A vocabulary, beside a file that says that it is cased."""
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nHarbor\n")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    return str(path)


def test_the_casing_is_that_of_the_vocabulary(cased_vocabulary):
    config = config_of("out", vocab_file=cased_vocabulary)
    assert config.instances.do_lower_case
    completed = complete_casing(config, is_casing_chosen=False)
    assert not completed.instances.do_lower_case


def test_a_casing_that_contradicts_the_vocabulary_is_refused(cased_vocabulary):
    config = config_of("out", vocab_file=cased_vocabulary, do_lower_case=True)
    with pytest.raises(ValueError, match="do_lower_case"):
        complete_casing(config, is_casing_chosen=True)
