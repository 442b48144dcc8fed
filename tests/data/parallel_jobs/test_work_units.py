"""The units of a job: which run, what they return, and which are done."""

import os
import signal

import pytest

from data.parallel_jobs.work_units import (
    check_results,
    choose_unit_runner,
    is_done,
    remove_finished_shards,
    run_units,
)
from terminal import signals


def run_here(function, calls):
    """Runs the units in this process."""
    return choose_unit_runner(None, None)(function, calls)


def test_all_units_return_their_results(job, units, write_shard):
    job.begin()
    results = run_units(units, write_shard, run_here)
    assert [result["counts"] for result in results] == [{"texts": 1}] * 2


def test_a_unit_that_is_done_does_not_run_again(job, units, write_shard):
    job.begin()
    write_shard(units[0])
    written = []

    def write(unit):
        written.append(unit)
        write_shard(unit)

    run_units(units, write, run_here)
    assert written == [units[1]]


@pytest.mark.parametrize("contents", ["123456780", "1234", None])
def test_a_unit_whose_shard_is_damaged_is_not_done(
    job, units, write_shard, contents
):
    job.begin()
    write_shard(units[0])
    assert is_done(units[0])
    (path,) = units[0].shards
    os.remove(path)
    if contents is not None:
        with open(path, "w") as file:
            file.write(contents)
    assert not is_done(units[0])


def test_a_signal_says_how_many_units_are_done(job, units, write_shard):
    job.begin()

    def write(unit):
        write_shard(unit)
        raise signals.SignalInterrupt(signal.SIGTERM)

    with pytest.raises(
        signals.SignalInterrupt, match="after 1 of 2 units; run the"
    ):
        run_units(units, write, run_here)


@pytest.mark.parametrize(
    ("result", "culprit"),
    [
        ("{", "is not valid JSON"),
        ("{}", "`shards` is missing or malformed"),
        ('{"shards": [{"bytes": 9}], "counts": {}}', "`shards` is missing or"),
        ('{"shards": [], "counts": {"texts": "1"}}', "`counts` is missing or"),
    ],
)
def test_a_damaged_result_file_is_named(
    job, units, write_shard, result, culprit
):
    job.begin()
    with open(units[1].result_file, "w") as file:
        file.write(result)
    with pytest.raises(ValueError, match=f"unit-00001.json.*{culprit}"):
        run_units(units, write_shard, run_here)


def test_a_damaged_result_file_is_found_before_a_unit_runs(job, units):
    job.begin()
    check_results(units)
    with open(units[1].result_file, "w") as file:
        file.write("{}")
    with pytest.raises(ValueError, match=r"unit-00001\.json is damaged"):
        check_results(units)


def test_only_the_shards_of_finished_units_are_removed(job, units, write_shard):
    job.begin()
    write_shard(units[0])
    (unfinished,) = units[1].shards
    with open(unfinished, "w") as file:
        file.write("a file of the user")
    remove_finished_shards(units)
    assert not os.path.exists(units[0].shards[0])
    assert os.path.exists(unfinished)
