"""Curves of runs: which points are drawn, and the images they are drawn to."""

import json
import sys

import pytest

from tests import script_runner
from tools import plot_runs

SCRIPT = "tools.plot_runs"
NAME = 'fast & <b>"bold"</b>'


def write_run(folder, num_steps=10, accuracy=0.4):
    folder.mkdir(parents=True)
    lines = []
    for step in range(1, num_steps + 1):
        line = {"step": step, "hours": step / 4, "examples": 32 * step}
        line["learning_rate"] = 1e-3 / step
        metrics = {"loss": 10.0 / step, "gradient_norm": 1.0}
        lines.append({"kind": "train", **line, "metrics": metrics})
        if step % 5 == 0:
            metrics = {"loss": 11.0 / step, "accuracy": accuracy * step}
            lines.append({"kind": "eval", **line, "metrics": metrics})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "history.jsonl").write_text(text)
    return folder


@pytest.fixture
def runs(tmp_path):
    one = write_run(tmp_path / "one")
    two = write_run(tmp_path / "two", 5, 0.1)
    return plot_runs.read_runs([("", one), (NAME, two)])


def test_panels_hold_the_points_of_the_histories(runs):
    panels = plot_runs.create_panels(runs, "hours")
    assert list(panels) == ["loss", "accuracy", "learning_rate"]
    loss, accuracy, rate = panels.values()
    kinds = [(run, kind) for run in (0, 1) for kind in ("train", "eval")]
    assert [(line.run, line.kind) for line in loss] == kinds
    assert loss[0].points == [(n / 4, 10.0 / n) for n in range(1, 11)]
    assert loss[1].points == [(1.25, 2.2), (2.5, 1.1)]
    assert accuracy[0].points == [(1.25, 2.0), (2.5, 4.0)]
    assert accuracy[1].points == [(1.25, 0.5)]
    assert rate[1].points == [(n / 4, 1e-3 / n) for n in range(1, 6)]
    panels = plot_runs.create_panels(runs, "steps", ["gradient_norm"])
    assert panels["gradient_norm"][0].points[2] == (3.0, 1.0)
    with pytest.raises(ValueError, match="--metrics: no run has f1; use some"):
        plot_runs.create_panels(runs, "steps", ["f1"])
    with pytest.raises(ValueError, match="--metrics= names no metric; use s"):
        plot_runs.create_panels(runs, "steps", [])


@pytest.mark.parametrize(
    ("axis", "end"), [("steps", 10), ("examples", 320), ("hours", 2.5)]
)
def test_phases_become_one_curve(runs, axis, end):
    """Each run begins where the one before ended; the first stays."""
    apart = plot_runs.create_panels(runs, axis)
    three = plot_runs.join_ends([*runs, runs[1]])
    joined = plot_runs.create_panels(three, axis)
    assert apart.keys() == joined.keys()
    for metric, series in apart.items():
        first, two, three = (
            [line for line in joined[metric] if line.run == run]
            for run in range(3)
        )
        assert first == [line for line in series if line.run == 0]
        alone = series[-len(two) :]
        for line, again, third in zip(alone, two, three, strict=True):
            assert again.points == [(x + end, y) for x, y in line.points]
            assert third.points == [(x + 1.5 * end, y) for x, y in line.points]


def test_many_points_are_averaged(tmp_path):
    runs = plot_runs.read_runs([("", write_run(tmp_path / "long", 1000))])
    panels = plot_runs.create_panels(runs, "steps", ["loss"])
    trained, evaluated = panels["loss"]
    # Three at a time, so that at most 400 are left.
    assert len(trained.points) == 334
    mean = sum(10.0 / n for n in (4, 5, 6)) / 3
    assert trained.points[1] == (5.0, pytest.approx(mean))
    assert len(evaluated.points) == 200


def test_a_folder_of_several_runs_means_all_of_them(tmp_path):
    for number in (1, 2, 10):
        write_run(tmp_path / "all" / f"run_{number}")
    found = plot_runs.read_runs([("", tmp_path / "all")])
    names = [run.name for run in found]
    assert names == ["all/run_1", "all/run_2", "all/run_10"]
    twice = [("", tmp_path / "all")] * 2
    with pytest.raises(ValueError, match="two runs are called all/run_1; rena"):
        plot_runs.read_runs(twice)
    with pytest.raises(FileNotFoundError, match="has no history.jsonl"):
        plot_runs.read_runs([("", tmp_path)])


def test_values_that_are_not_finite_are_gaps(tmp_path):
    folder = write_run(tmp_path / "run", 5)
    path = folder / "history.jsonl"
    text = path.read_text().replace('"loss": 5.0', '"loss": null')
    path.write_text(text.replace('"hours": 0.75', '"hours": null'))
    runs = plot_runs.read_runs([("", folder)])
    trained, _ = plot_runs.create_panels(runs, "hours", ["loss"])["loss"]
    assert [place for place, _ in trained.points] == [0.25, 1.0, 1.25]


def test_the_script_says_what_is_wrong(tmp_path):
    for name in ("one", "repeated/run_1", "repeated/run_2"):
        write_run(tmp_path / name)
    damaged = write_run(tmp_path / "damaged") / "history.jsonl"
    damaged.write_text(damaged.read_text().replace('"step": 2', '"step": "2"'))
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/history.jsonl").touch()
    is_one = "one/history.jsonl) are the same"
    cases = [
        ("", "nothing to do: set --png or --svg"),
        ("--html=c.html", "--html was removed"),
        ("--metrics=f1 --png=x.png", "no run has f1"),
        ("--png=one/history.jsonl", is_one),
        ("--svg=one/history.jsonl", is_one),
        (
            "--runs=repeated --consecutive --png=x.png",
            "and repeated/run_1 is one of several",
        ),
        ("--runs=damaged --png=x.png", "history.jsonl, line 2 is not"),
        ("--runs=empty --png=x.png", "no values to plot for --axis=steps"),
    ]
    script_runner.check_refusals(tmp_path, SCRIPT, {"runs": "a=one"}, cases)


def test_a_missing_matplotlib_is_named(runs, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match="pip install -r requirements/plot"):
        plot_runs.draw(["a"], plot_runs.create_panels(runs, "steps"), "steps")


def test_the_script_draws_images(tmp_path):
    pytest.importorskip("matplotlib", reason="needs requirements/plot.txt")
    write_run(tmp_path / "one")
    for axis in plot_runs.AXES:
        flags = {"runs": "<a>=one,b=one", "axis": axis, "consecutive": True}
        flags |= {kind: f"new/{axis}.{kind}" for kind in ("png", "svg")}
        flags["title"] = "Two $phases$"
        script_runner.run(SCRIPT, tmp_path, **flags).check()
    for kind, begin in (("png", b"\x89PNG\r\n"), ("svg", b"<?xml")):
        drawn = {path.read_bytes() for path in tmp_path.glob(f"new/*.{kind}")}
        assert len(drawn) == len(plot_runs.AXES) == 3
        assert all(one.startswith(begin) for one in drawn)
    # An SVG names its texts in comments.
    text = (tmp_path / "new/hours.svg").read_text()
    for name in ("loss", "accuracy", "hours", "&lt;a&gt;", "Two $phases$"):
        assert f"<!-- {name} -->" in text, name


def test_the_image_says_what_it_shows(tmp_path):
    pytest.importorskip("matplotlib", reason="needs requirements/plot.txt")
    folder = write_run(tmp_path / "run")
    runs = plot_runs.read_runs([(f"run{i}", folder) for i in range(20)])
    panels = plot_runs.create_panels(runs, "steps")
    names = [run.name for run in runs]
    drawn = plot_runs.draw(names, panels, "steps", "costs $5 and $6")
    # No panel is left without a curve.
    assert [axes.get_title() for axes in drawn.axes] == list(panels)
    (legend,) = drawn.legends
    assert legend.get_title().get_text() == r"costs \$5 and \$6"
    found = [one.get_text() for one in legend.get_texts()]
    assert found == [*names, "training", "evaluation"]
    *lines, trained, evaluated = legend.get_lines()
    assert trained.get_linewidth() < evaluated.get_linewidth()
    assert (trained.get_marker(), evaluated.get_marker()) == ("None", ".")
    # Runs beyond the colors differ in their dashes.
    styles = {(line.get_color(), line.get_linestyle()) for line in lines}
    assert len(styles) == len(runs)
