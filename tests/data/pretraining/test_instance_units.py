"""The records of one unit of a job, which any process may write."""

import dataclasses
import json

import pytest

from data.io import tfrecords
from data.pretraining.documents import LineRange
from data.pretraining.instance_units import InstanceUnit
from data.pretraining.pretraining_options import InstanceOptions
from tests.support.shards import CORPUS, VOCAB

OPTIONS = InstanceOptions(
    vocab_file=VOCAB,
    max_seq_length=32,
    max_predictions_per_seq=5,
    dupe_factor=2,
)


@pytest.fixture
def write_and_read_unit(tmp_path):
    """(texts of a unit, ...) -> the records of its shards, and its result."""

    def write_and_read_unit(
        parts, num_shards=1, options=OPTIONS, is_evaluation=False
    ):
        shards = [str(tmp_path / f"shard-{i}") for i in range(num_shards)]
        result_file = str(tmp_path / "result.json")
        unit = InstanceUnit(
            options=options,
            parts={index: [LineRange(path)] for index, path in parts.items()},
            shards=shards,
            result_file=result_file,
            is_evaluation=is_evaluation,
        )
        unit.write_shards()
        with open(result_file) as file:
            result = json.load(file)
        records = [[*tfrecords.read_records(path)] for path in shards]
        return records, result

    return write_and_read_unit


def test_records_are_dealt_to_the_shards_in_turn(write_and_read_unit):
    ((one,), _) = write_and_read_unit({0: CORPUS[0]})
    shards, _ = write_and_read_unit({0: CORPUS[0]}, num_shards=3)
    assert len(one) > 6
    assert shards == [one[start::3] for start in range(3)]


def test_the_result_counts_the_records_of_each_shard(write_and_read_unit):
    shards, result = write_and_read_unit({0: CORPUS[0]}, num_shards=2)
    num_records = [shard["num_records"] for shard in result["shards"]]
    assert num_records == [len(records) for records in shards]
    assert result["counts"]["num_instances"] == sum(num_records)


def test_the_records_of_a_part_depend_on_no_other_part(write_and_read_unit):
    ((first,), _) = write_and_read_unit({0: CORPUS[0]})
    ((second,), _) = write_and_read_unit({1: CORPUS[1]})
    ((both,), _) = write_and_read_unit({0: CORPUS[0], 1: CORPUS[1]})
    assert both == first + second


def test_the_draws_of_a_part_depend_on_its_index(write_and_read_unit):
    ((first,), _) = write_and_read_unit({0: CORPUS[0]})
    ((again,), _) = write_and_read_unit({0: CORPUS[0]})
    ((moved,), _) = write_and_read_unit({1: CORPUS[0]})
    assert first == again
    assert first != moved


@pytest.fixture
def half():
    """Options that hold out about half of the documents."""
    return dataclasses.replace(OPTIONS, eval_fraction=0.5)


@pytest.fixture
def many_documents(tmp_path):
    """The path of 40 documents, each of two lines."""
    path = tmp_path / "many.txt"
    words = ["the", "boat", "sea", "light", "harbor", "a", "storm", "on", "is"]
    path.write_text(
        "\n".join(
            f"{words[i % 9]} {words[i % 7]} {i}\nthe sea\n" for i in range(40)
        )
    )
    return path


def test_a_document_is_either_trained_on_or_held_out(
    write_and_read_unit, half, many_documents
):
    numbers = []
    for is_evaluation in (False, True):
        _, result = write_and_read_unit(
            {0: str(many_documents)}, options=half, is_evaluation=is_evaluation
        )
        numbers.append(result["counts"]["num_documents"])
    assert sum(numbers) == 40
    assert min(numbers) > 8


def test_documents_are_held_out_whatever_the_seed_is(
    write_and_read_unit, half, many_documents
):
    counts = []
    for seed in (1, 2):
        options = dataclasses.replace(half, random_seed=seed)
        _, result = write_and_read_unit(
            {seed: str(many_documents)}, options=options, is_evaluation=True
        )
        counts.append(result["counts"])
    assert counts[0] == counts[1]


def test_the_evaluation_set_is_masked_once_even_with_dynamic_masking(
    write_and_read_unit, half, many_documents
):
    parts = {0: str(many_documents)}
    once = dataclasses.replace(half, dupe_factor=1)
    dynamic = dataclasses.replace(half, dupe_factor=7, dynamic_masking=True)
    expected, _ = write_and_read_unit(parts, options=once, is_evaluation=True)
    records, result = write_and_read_unit(
        parts, options=dynamic, is_evaluation=True
    )
    assert records == expected
    # The job counts training instances alone.
    assert "num_instances" not in result["counts"]
