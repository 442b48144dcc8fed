"""The dev sets of runs on a table, each started from the run before."""

import pytest

from tests.support import script_runner
from tests.support.tasks.table_commands import (
    Commands,
    list_doubt_warnings,
    read_recorded_split,
    read_topics,
    write_table,
)

pytestmark = pytest.mark.slow


def write_sets(folder, rows):
    """Writes a train set and a dev set of the same rows, as a user may."""
    folder.mkdir()
    for name in ("train", "dev"):
        write_table(folder / f"{name}.csv", rows)


@pytest.fixture(scope="module")
def rows():
    """Texts and labels of a table."""
    return read_topics()


@pytest.fixture(scope="module")
def chain(tmp_path_factory, model_flags, rows):
    """Commands after three runs, each started from the one before.

    The first holds out 0.2 of the table, and the second 0.5, which the third
    inherits. No test changes the folder.

    Returns:
        the commands, and {name of a run: its result}.
    """
    commands = Commands(tmp_path_factory.mktemp("chain"), model_flags)
    write_table(commands.folder / "table.csv", rows)
    return commands, {
        "a": commands.train("a"),
        "b": commands.train("b", init_checkpoint="a", dev_fraction=0.5),
        "c": commands.train("c", init_checkpoint="b"),
    }


@pytest.fixture
def after_chain(chain, tmp_path):
    """Commands in a copy of the folder of `chain`, for one test."""
    return chain[0].copied_to(tmp_path / "chain")


def test_a_start_from_a_run_that_held_out_less_is_warned_of(chain):
    commands, done = chain
    (warning,) = list_doubt_warnings(done["b"])
    assert "--init_checkpoint=a was trained with --dev_fraction=0.2" in warning
    assert read_recorded_split(commands.folder / "b")["clean_fraction"] == 0.2


def test_rows_that_any_run_of_a_chain_trained_on_are_warned_of(chain):
    commands, done = chain
    (warning,) = list_doubt_warnings(done["c"])
    assert "a start of --init_checkpoint=b" in warning
    assert read_recorded_split(commands.folder / "c")["dev_fraction"] == 0.5


def test_a_later_command_repeats_the_warning_of_its_run(after_chain):
    done = after_chain.evaluate("c").check()
    assert len(list_doubt_warnings(done)) == 1


def test_rows_that_each_run_of_a_chain_held_out_are_not_warned_of(after_chain):
    done = after_chain.train("d", init_checkpoint="c", dev_fraction=0.2)
    assert not list_doubt_warnings(done)


@pytest.fixture
def after_own_sets(after_chain, rows):
    """`after_chain`, after a run `e` on the user's own sets."""
    write_sets(after_chain.folder / "sets", rows[:60])
    after_chain.train_on_sets("e", data_dir="sets", init_checkpoint="c")
    return after_chain


def test_a_run_on_a_users_own_sets_records_the_split_of_its_start(
    after_own_sets,
):
    start, run = (
        read_recorded_split(after_own_sets.folder / name) for name in "ce"
    )
    assert run == start


def test_a_table_after_a_table_and_a_users_own_sets_is_warned_of(
    after_own_sets,
):
    """The user's own sets may contain rows of the table."""
    done = after_own_sets.evaluate(
        "f", init_checkpoint="e", dev_fraction=0.2
    ).check()
    (warning,) = list_doubt_warnings(done)
    assert "--init_checkpoint=e chose its dev set in another way" in warning


def test_a_copy_of_weights_records_their_split(after_chain):
    folder = after_chain.folder
    script_runner.run(
        "tools.convert_checkpoint",
        folder,
        init_checkpoint="c",
        output_dir="copied",
    ).check()
    assert read_recorded_split(folder / "copied") == read_recorded_split(
        folder / "c"
    )


def test_a_table_after_a_users_own_sets_is_warned_of(
    tmp_path, model_flags, rows
):
    commands = Commands(tmp_path, model_flags)
    write_table(tmp_path / "table.csv", rows)
    write_sets(tmp_path / "own", rows[:60])
    commands.train_on_sets("of_sets", data_dir="own")
    done = commands.train("then", init_checkpoint="of_sets")
    assert len(list_doubt_warnings(done)) == 1
    assert read_recorded_split(tmp_path / "then")["clean_fraction"] == 0
