"""The units of a job: which run, what they return, and which are done."""

import os
import signal

import pytest

from data.parallel_jobs.job import (
    check_results,
    choose_unit_runner,
    is_done,
    remove_finished_shards,
    run_units,
)
from terminal import signals


def read_text(path):
    """Returns the contents of a file."""
    with open(path) as file:
        return file.read()


def run_here(function, calls):
    """Runs the units in this process."""
    return choose_unit_runner(None, None)(function, calls)


def test_all_units_return_their_results(job, units):
    job.begin()
    results = run_units(units, run_here)
    assert [result["counts"] for result in results] == [{"texts": 1}] * 2


def test_a_unit_that_is_done_does_not_run_again(job, units):
    job.begin()
    units[0].write_shards()
    # If the unit ran again, it would write this text.
    units[0] = units[0]._replace(text="another text")
    run_units(units, run_here)
    shards = [path for unit in units for path in unit.shards]
    assert [*map(read_text, shards)] == ["123456789"] * 2


@pytest.mark.parametrize("contents", ["123456780", "1234", None])
def test_a_unit_whose_shard_is_damaged_is_not_done(job, units, contents):
    job.begin()
    units[0].write_shards()
    assert is_done(units[0])
    (path,) = units[0].shards
    os.remove(path)
    if contents is not None:
        with open(path, "w") as file:
            file.write(contents)
    assert not is_done(units[0])


def test_a_signal_says_how_many_units_are_done(job, units):
    job.begin()

    def run_one(function, calls):
        yield function(*calls[0])
        raise signals.SignalInterrupt(signal.SIGTERM)

    with pytest.raises(
        signals.SignalInterrupt, match="after 1 of 2 units; run the"
    ):
        run_units(units, run_one)


@pytest.mark.parametrize(
    ("result", "culprit"),
    [
        ("{", "is not valid JSON"),
        ("{}", "`shards` is missing or malformed"),
        ('{"shards": [{"bytes": 9}], "counts": {}}', "`shards` is missing or"),
        ('{"shards": [], "counts": {"texts": "1"}}', "`counts` is missing or"),
    ],
)
def test_a_damaged_result_file_is_named(job, units, result, culprit):
    job.begin()
    with open(units[1].result_file, "w") as file:
        file.write(result)
    with pytest.raises(ValueError, match=f"unit-00001.json.*{culprit}"):
        run_units(units, run_here)


def test_a_damaged_result_file_is_found_before_a_unit_runs(job, units):
    job.begin()
    check_results(units)
    with open(units[1].result_file, "w") as file:
        file.write("{}")
    with pytest.raises(ValueError, match=r"unit-00001\.json is damaged"):
        check_results(units)


def test_only_the_shards_of_finished_units_are_removed(job, units):
    job.begin()
    units[0].write_shards()
    (unfinished,) = units[1].shards
    with open(unfinished, "w") as file:
        file.write("a file of the user")
    remove_finished_shards(units)
    assert not os.path.exists(units[0].shards[0])
    assert os.path.exists(unfinished)
