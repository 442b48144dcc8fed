"""What a run decided holds for every later command on its folder.

tests/training/sets/test_trained_rows.py tests without runs which rows are in
doubt.
"""

import json
import shutil

import pytest

from files.json_files import read_json
from tests.support import script_runner
from tests.support.script_runner import SAMPLES, read_results
from tests.support.tables.csv_files import read_csv, write_csv

# Files of the run that a command which does not train may replace.
RESULTS = ("README.md", "dev_predictions.csv", "eval_results.txt", "model.json")


def contents(folder):
    """Returns {name: bytes} of the results of a run."""
    return {name: (folder / name).read_bytes() for name in RESULTS}


def write_table(path, rows):
    """Writes a table of texts and labels."""
    write_csv(path, ("text", "label"), rows)


@pytest.fixture(scope="module")
def rows():
    """Texts and labels of a table."""
    topics = read_csv(SAMPLES / "topics/train.csv")
    return [(row["text"], row["label"]) for row in topics[:90]]


@pytest.fixture(scope="module")
def new_rows(rows):
    """Texts and labels that the table lacks."""
    return [(f"new text {i}", rows[0][1]) for i in range(12)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory, model_flags, rows):
    """Folder with a table, and a `run` that held out a part of it of its own.

    No test changes it. A test works on its own copy, `folder`.
    """
    folder = tmp_path_factory.mktemp("split")
    write_table(folder / "table.csv", rows)
    train(folder, model_flags, output_dir="run", seed=1, dev_fraction=0.3)
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of `trained` for one test."""
    return shutil.copytree(trained, tmp_path / "copy")


def train(folder, model_flags, **flags):
    """Trains on a table for one epoch. Returns its Done."""
    given = {"data_file": "table.csv", "num_train_epochs": 1}
    given |= {"report": False, "export_dir": f"{flags['output_dir']}_model"}
    return script_runner.run(
        "run_classifier.py", folder, **model_flags | given | flags
    ).check()


def run_later(folder, **flags):
    """Runs a command that does not train. Returns its Done."""
    given = {"do_train": False, "data_file": "table.csv", "output_dir": "run"}
    return script_runner.run("run_classifier.py", folder, **given | flags)


def resume(folder, model_flags, **flags):
    """Runs the command of the run again, with some other flags."""
    given = {"data_file": "table.csv", "output_dir": "run", "seed": 1}
    given |= {"num_train_epochs": 1}
    return script_runner.run(
        "run_classifier.py", folder, **model_flags | given | flags
    )


def write_sets(folder, rows):
    """Writes a train set and a dev set of the same rows, as a user may."""
    folder.mkdir()
    for name in ("train", "dev"):
        write_table(folder / f"{name}.csv", rows)


def read_recorded_split(folder):
    """Returns the split that a run recorded."""
    return read_json(folder / "model.json")["origin"]["settings"]["split"]


def change_json(path, change):
    """Calls a function that changes the contents of a JSON file."""
    value = read_json(path)
    change(value)
    path.write_text(json.dumps(value))


def find_doubt_warnings(done):
    """Returns the warnings that rows may have been trained on."""
    text = "may have been trained on"
    return [line for line in done.stderr.splitlines() if text in line]


def texts_in(folder):
    """Returns the texts of a dev set that was scored, in capitals."""
    rows = read_csv(folder / "dev_predictions.csv")
    return {row["text"].upper() for row in rows}


def test_a_run_records_the_split_of_its_table(trained):
    assert read_recorded_split(trained / "run") == {
        "rule": 1,
        "dev_fraction": 0.3,
        "key": ["text"],
        "clean_fraction": 0.3,
    }


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param({}, id="no flags"),
        pytest.param({"seed": 2}, id="another seed"),
        pytest.param(
            {"dev_fraction": 0.3},
            id="the run's fraction",
            marks=pytest.mark.slow,
        ),
        pytest.param({"seed": 1}, id="the run's seed", marks=pytest.mark.slow),
    ],
)
def test_an_evaluation_scores_the_runs_own_dev_set(folder, flags):
    before = read_results(folder / "run")
    predictions = (folder / "run/dev_predictions.csv").read_bytes()
    done = run_later(folder, **flags).check()
    assert not find_doubt_warnings(done)
    assert "are only shown" not in done.stderr
    assert read_results(folder / "run") == before
    assert (folder / "run/dev_predictions.csv").read_bytes() == predictions


@pytest.mark.parametrize(
    "fraction", [0.5, pytest.param(0.31, marks=pytest.mark.slow)]
)
def test_a_larger_dev_set_than_the_runs_is_in_doubt(folder, fraction):
    done = run_later(folder, dev_fraction=fraction).check()
    (warning,) = find_doubt_warnings(done)
    for text in (f"={fraction:g}.", "--output_dir=run", "=0.3,"):
        assert text in warning


def test_a_smaller_dev_set_than_the_runs_is_not_in_doubt(folder):
    assert not find_doubt_warnings(run_later(folder, dev_fraction=0.2).check())


@pytest.mark.parametrize("fraction", [0.5, 0.2])
def test_scores_of_another_fraction_are_shown_and_change_no_file(
    folder, fraction
):
    before = contents(folder / "run")
    export = (folder / "run_model/README.md").stat().st_mtime_ns
    done = run_later(folder, dev_fraction=fraction).check()
    assert "eval_accuracy" in done.stderr
    assert "are only shown" in done.stderr
    assert contents(folder / "run") == before
    assert (folder / "run_model/README.md").stat().st_mtime_ns == export


def add_rows(rows, new_rows):
    return rows + new_rows


def drop_rows(rows, new_rows):
    return rows[20:]


def sort_rows(rows, new_rows):
    return sorted(rows)


def capitalize_rows(rows, new_rows):
    return [(text.upper(), label) for text, label in rows]


CHANGES = [add_rows, drop_rows, sort_rows, capitalize_rows]


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_scores_of_another_table_are_shown_and_change_no_file(
    folder, rows, new_rows, change
):
    write_table(folder / "other.csv", change(rows, new_rows))
    before = contents(folder / "run")
    done = run_later(folder, data_file="other.csv").check()
    assert not find_doubt_warnings(done)
    assert "are only shown" in done.stderr
    assert contents(folder / "run") == before


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_the_dev_set_of_another_table_has_no_row_that_was_trained_on(
    folder, rows, new_rows, change
):
    write_table(folder / "other.csv", change(rows, new_rows))
    flags = {"init_checkpoint": "run", "output_dir": "scored"}
    done = run_later(folder, data_file="other.csv", **flags).check()
    assert not find_doubt_warnings(done)
    assert "are only shown" not in done.stderr
    # Each row of it was one before, or is new.
    trained_texts = {text.upper() for text, _ in rows}
    assert texts_in(folder / "scored") & trained_texts <= texts_in(
        folder / "run"
    )


@pytest.fixture(scope="module")
def chain(trained, tmp_path_factory, model_flags):
    """A copy of `trained` with three runs, each started from the one before.

    The first holds out 0.2 of the table, and the second 0.5, which the third
    inherits. No test changes it.

    Returns:
        the folder, and {name of a run: its Done}.
    """
    folder = tmp_path_factory.mktemp("chain")
    shutil.copytree(trained, folder, dirs_exist_ok=True)
    flags = {
        "a": {},
        "b": {"init_checkpoint": "a", "dev_fraction": 0.5},
        "c": {"init_checkpoint": "b"},
    }
    return folder, {
        name: train(folder, model_flags, output_dir=name, **more)
        for name, more in flags.items()
    }


@pytest.fixture
def chain_folder(chain, tmp_path):
    """A copy of the folder of `chain` for one test."""
    return shutil.copytree(chain[0], tmp_path / "chain")


@pytest.mark.slow
def test_a_start_that_held_out_less_is_in_doubt(chain):
    folder, done = chain
    (warning,) = find_doubt_warnings(done["b"])
    assert "--init_checkpoint=a was trained with --dev_fraction=0.2" in warning
    assert read_recorded_split(folder / "b")["clean_fraction"] == 0.2


@pytest.mark.slow
def test_rows_that_any_start_in_a_chain_trained_on_are_in_doubt(chain):
    folder, done = chain
    (warning,) = find_doubt_warnings(done["c"])
    assert "a start of --init_checkpoint=b" in warning
    assert read_recorded_split(folder / "c")["dev_fraction"] == 0.5


@pytest.mark.slow
def test_a_later_command_repeats_the_doubt_of_its_run(chain_folder):
    done = run_later(chain_folder, output_dir="c").check()
    assert len(find_doubt_warnings(done)) == 1


@pytest.mark.slow
def test_what_all_of_a_chain_held_out_is_not_in_doubt(
    chain_folder, model_flags
):
    after = {"init_checkpoint": "c", "output_dir": "d", "dev_fraction": 0.2}
    assert not find_doubt_warnings(train(chain_folder, model_flags, **after))


@pytest.fixture
def on_own_sets(chain_folder, rows):
    """The folder of a run on the user's own sets, after the chain."""
    write_sets(chain_folder / "sets", rows[:60])
    script_runner.run(
        "run_classifier.py",
        chain_folder,
        data_dir="sets",
        task_name="csv",
        init_checkpoint="c",
        output_dir="e",
        do_train=True,
        max_seq_length=32,
        num_train_epochs=1,
    ).check()
    return chain_folder / "e"


@pytest.mark.slow
def test_a_run_on_own_sets_passes_on_the_split_of_its_start(
    chain_folder, on_own_sets
):
    assert read_recorded_split(on_own_sets) == read_recorded_split(
        chain_folder / "c"
    )


@pytest.mark.slow
def test_own_sets_between_two_tables_are_in_doubt(chain_folder, on_own_sets):
    """The user's own sets may contain rows of the table."""
    flags = {"dev_fraction": 0.2, "output_dir": "f"}
    flags["init_checkpoint"] = on_own_sets.name
    (warning,) = find_doubt_warnings(run_later(chain_folder, **flags).check())
    assert "--init_checkpoint=e chose its dev set in another way" in warning


@pytest.mark.slow
def test_a_copy_of_the_weights_passes_on_their_split(chain_folder):
    script_runner.run(
        "tools.convert_checkpoint",
        chain_folder,
        init_checkpoint="c",
        output_dir="copied",
    ).check()
    assert read_recorded_split(chain_folder / "copied") == read_recorded_split(
        chain_folder / "c"
    )


@pytest.mark.slow
def test_own_sets_before_a_table_are_in_doubt(folder, model_flags, rows):
    write_sets(folder / "own", rows[:60])
    own = {"data_file": None, "data_dir": "own", "task_name": "csv"}
    own |= {"do_train": True, "export_dir": None, "max_seq_length": 32}
    train(folder, model_flags, output_dir="of_sets", **own)
    after = {"init_checkpoint": "of_sets", "output_dir": "then"}
    assert len(find_doubt_warnings(train(folder, model_flags, **after))) == 1
    assert read_recorded_split(folder / "then")["clean_fraction"] == 0


@pytest.fixture
def other_rule(folder):
    """`folder`, whose run is of a version with another rule for the dev set."""

    def change(described):
        described["origin"]["settings"]["split"]["rule"] += 1

    change_json(folder / "run/model.json", change)
    return folder


def test_a_run_of_another_rule_is_scored_and_left_as_it_is(other_rule):
    before = contents(other_rule / "run")
    done = run_later(other_rule).check()
    (warning,) = find_doubt_warnings(done)
    assert "--output_dir=run chose its dev set in another way" in warning
    assert "eval_accuracy" in done.stderr
    assert contents(other_rule / "run") == before


@pytest.mark.slow
def test_a_start_of_another_rule_is_in_doubt(other_rule, model_flags):
    after = {"init_checkpoint": "run", "output_dir": "changed"}
    done = train(other_rule, model_flags, **after)
    assert "--init_checkpoint=run chose its" in find_doubt_warnings(done)[0]
    assert read_recorded_split(other_rule / "changed")["clean_fraction"] == 0


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (add_rows, "table.csv has changed: 90 rows then, 102 now"),
        (sort_rows, "table.csv has changed, although it has 90 rows"),
    ],
)
def test_a_run_does_not_go_on_with_another_table(
    folder, model_flags, rows, new_rows, change, error
):
    write_table(folder / "table.csv", change(rows, new_rows))
    done = resume(folder, model_flags)
    assert error in done.error
    assert "--init_checkpoint=run" in done.error
    assert "train_records" not in done.error


def test_a_run_does_not_go_on_with_another_fraction(folder, model_flags):
    done = resume(folder, model_flags, dev_fraction=0.4)
    assert "--dev_fraction=0.3; received 0.4" in done.error


@pytest.mark.slow
@pytest.mark.parametrize("model", ["output_dir", "init_checkpoint"])
def test_texts_of_another_column_are_in_doubt(
    tmp_path, model_flags, rows, model
):
    titled = [
        (" ".join(text.split()[-3:]), text, label) for text, label in rows
    ]
    write_csv(tmp_path / "table.csv", ("title", "text", "label"), titled)
    train(tmp_path, model_flags, output_dir="run", text_column="title")
    before = contents(tmp_path / "run")
    flags = {"output_dir": "new", "text_column": "text"} | {model: "run"}
    (warning,) = find_doubt_warnings(run_later(tmp_path, **flags).check())
    assert "by 'title'" in warning
    assert "by 'text'" in warning
    assert contents(tmp_path / "run") == before


def test_a_folder_with_the_table_is_not_scored(folder):
    (folder / "data").mkdir()
    shutil.copy(folder / "table.csv", folder / "data/dev.csv")
    before = contents(folder / "run")
    flags = {"data_file": None, "data_dir": "data", "do_eval": True}
    error = run_later(folder, **flags).error
    assert "dev.csv" in error
    assert "table.csv" in error
    assert contents(folder / "run") == before


def test_scores_of_another_dev_set_are_not_replaced_in_silence(folder, rows):
    (folder / "other").mkdir()
    write_table(folder / "other/dev.csv", rows[:20])
    flags = {"data_file": None, "data_dir": "other", "do_eval": True}
    done = run_later(folder, **flags).check()
    assert "dev.csv is not the dev set of --output_dir=run" in done.stderr
    assert "which was of table.csv" in done.stderr


def test_two_files_that_disagree_on_the_casing_are_both_named(folder):
    def change(settings):
        settings["do_lower_case"] = not settings["do_lower_case"]

    change_json(folder / "run/tokenizer_config.json", change)
    done = run_later(folder)
    assert "tokenizer_config.json" in done.error
    assert "model.json" in done.error
