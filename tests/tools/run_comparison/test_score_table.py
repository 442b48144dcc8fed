"""The table of the scores of runs, which the tests write as runs do."""

import pytest

from model_folders import scores
from tools.run_comparison.score_table import format_table, read_scores

TABLE = """\
| run   | seeds | eval_accuracy | f1         | litert_f1  |
|-------|-------|---------------|------------|------------|
| glue  | 2     | 0.700 ± 0.141 |            |            |
| squad | 2     |               | 80.0 ± 2.8 | 75.0 ± 0.0 |
"""


def write_results(path, **scores):
    """Writes results as a run does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{name} = {value}\n" for name, value in scores.items()]
    path.write_text("".join(lines))


@pytest.fixture
def runs(tmp_path):
    """Two runs of each of two tasks, and a run without results."""
    other = {"eval_loss": 0.5, "global_step": 100, "loss": 0.4}
    rates = {f"yes_{name}": 0.5 for name in scores.LABEL_SCORES}
    for seed, accuracy, f1 in ((1, 0.8, 82.0), (2, 0.6, 78.0)):
        folder = tmp_path / f"glue/seed_{seed}"
        write_results(
            folder / "eval_results.txt", eval_accuracy=accuracy, **rates
        )
        folder = tmp_path / f"squad/seed_{seed}"
        write_results(folder / "eval_results.txt", f1=f1, **other)
        write_results(folder / "export_eval_results.txt", litert_f1=75.0)
    (tmp_path / "glue/seed_3").mkdir()
    return tmp_path


def table_lines(runs, metrics=None):
    """Returns the lines of the table of folders, the value of --runs."""
    return format_table(read_scores(str(runs)), metrics).splitlines()


def test_runs_of_several_seeds_form_one_row(runs):
    assert table_lines(runs) == TABLE.splitlines()


def test_a_folder_without_results_is_named(runs):
    with pytest.raises(FileNotFoundError, match=r"seed_3.*eval_results\.txt"):
        read_scores(f"{runs}/glue/seed_3")


def test_a_folder_without_a_name_is_shown_by_its_path(runs):
    lines = table_lines(
        f"a={runs}/glue,{runs}/squad/seed_1,{runs}/squad/seed_2"
    )
    labels = [line.split(" | ")[0].strip("| ") for line in lines]
    assert labels[2:] == ["a", f"{runs}/squad"]


def test_only_chosen_metrics_are_columns(runs):
    lines = table_lines(runs, ["loss", "yes_f1"])
    cells = [line.replace("|", " ").split()[2:] for line in lines]
    assert cells[0] == ["loss", "yes_f1"]
    assert cells[2:] == [["0.500", "±", "0.000"], ["0.400", "±", "0.000"]]


def test_a_result_that_some_seeds_lack_has_no_mean(runs):
    write_results(runs / "squad/seed_3/eval_results.txt", f1="nan")
    lines = table_lines(runs / "squad")
    row = f"| {runs / 'squad'} | 3 | nan ± nan | |"
    assert lines[2].split() == row.split()
