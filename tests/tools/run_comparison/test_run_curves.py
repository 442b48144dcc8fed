"""The curves of runs, from histories that the tests write."""

import json

import pytest

pytest.importorskip("matplotlib")

from tools.run_comparison.plot_runs_config import PlotRunsConfig
from tools.run_comparison.run_curves import create_figure, read_runs


def write_run(folder, hours):
    """Writes the history of 10 steps, evaluated at the last one."""
    folder.mkdir()
    lines = [
        {
            "kind": kind,
            "step": step,
            "hours": hours * step / 10,
            "examples": 8 * step,
            "learning_rate": 0.1 / step,
            "metrics": metrics,
        }
        for step in range(1, 11)
        for kind, metrics in (
            ("train", {"loss": 1 / step, "gradient_norm": 2.0}),
            (
                "eval",
                {"eval_loss": 0.5, "f1": None if step == 1 else 0.1 * step},
            ),
            ("checkpoint", {}),
        )
        if kind == "train" or step in (1, 10)
    ]
    (folder / "history.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )


def draw_two_runs(folder, axis="steps", **flags):
    """Writes the runs "a" and "the second". Returns their Figure."""
    write_run(folder / "a", 1.0)
    write_run(folder / "b", 0.5)
    config = PlotRunsConfig(
        runs=f"{folder}/a,the second={folder}/b",
        output="curves.svg",
        axis=axis,
        **flags,
    )
    return create_figure(read_runs(config), axis)


@pytest.fixture
def figure(tmp_path):
    """The Figure of two runs."""
    return draw_two_runs(tmp_path)


def panel_of(figure, title):
    """Returns the axes below a title."""
    (panel,) = (axes for axes in figure.axes if axes.get_title() == title)
    return panel


def test_losses_metrics_and_rates_have_a_panel_each(figure):
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["f1", "learning_rate", "loss"]


def test_each_run_has_a_curve_of_training_and_one_of_evaluations(figure):
    lines = panel_of(figure, "loss").lines
    assert [len(line.get_xdata()) for line in lines] == [10, 2, 10, 2]


def test_the_legend_names_each_curve_by_its_color(figure, tmp_path):
    colors = {
        line.get_label(): line.get_color()
        for line in panel_of(figure, "loss").lines
    }
    assert len({*colors.values()}) == 4
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == [
        f"{tmp_path}/a, training",
        f"{tmp_path}/a, dev set",
        "the second, training",
        "the second, dev set",
    ]
    drawn_colors = [line.get_color() for line in legend.get_lines()]
    assert drawn_colors == [colors[text] for text in texts]


def test_a_single_point_is_marked(figure):
    lines = panel_of(figure, "f1").lines
    assert {line.get_marker() for line in lines} == {"."}


def test_a_value_that_is_null_is_not_drawn(figure):
    """Values that are not finite are null in a history."""
    first_line = panel_of(figure, "f1").lines[0]
    assert [*first_line.get_xdata()] == [10]
    assert [*first_line.get_ydata()] == [1.0]


@pytest.mark.parametrize(
    ("axis", "end"), [("steps", 10), ("examples", 80), ("hours", 1.0)]
)
def test_consecutive_runs_are_drawn_one_after_the_other(tmp_path, axis, end):
    drawn = draw_two_runs(tmp_path, axis, consecutive=True)
    first, second = drawn.axes[1].lines
    assert first.get_xdata()[-1] == end
    own = 0.05 if axis == "hours" else end / 10
    assert second.get_xdata()[0] == pytest.approx(end + own)
