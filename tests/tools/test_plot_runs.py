"""tools.plot_runs on histories that the tests write."""

import json

import pytest

pytest.importorskip("matplotlib")

from command_line.flags import Parsed
from tools import plot_runs


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


def draw(tmp_path, monkeypatch, **flags):
    """Runs the tool on runs "a" and "b". Returns its Figure."""
    write_run(tmp_path / "a", 1.0)
    write_run(tmp_path / "b", 0.5)
    drawn = []
    draw_figure = plot_runs.draw_runs

    def recording(*arguments):
        drawn.append(draw_figure(*arguments))
        return drawn[0]

    monkeypatch.setattr(plot_runs, "draw_runs", recording)
    runs = f"{tmp_path}/a,the second={tmp_path}/b"
    config = plot_runs.Config(runs=runs, output=f"{tmp_path}/c.svg", **flags)
    plot_runs.main(Parsed(config))
    assert "<svg" in (tmp_path / "c.svg").read_text()
    return drawn[0]


def test_losses_metrics_and_rates_are_drawn(tmp_path, monkeypatch):
    drawn = draw(tmp_path, monkeypatch)
    panels = {axes.get_title(): axes for axes in drawn.axes}
    assert [*panels] == ["f1", "learning_rate", "loss"]
    # Each run has a curve of training and one of evaluations.
    sizes = [len(line.get_xdata()) for line in panels["loss"].lines]
    assert sizes == [10, 2, 10, 2]
    drawn_as = {
        line.get_label(): line.get_color() for line in panels["loss"].lines
    }
    assert len({*drawn_as.values()}) == 4
    legend = {
        text.get_text(): line.get_color()
        for text, line in zip(
            drawn.legends[0].get_texts(),
            drawn.legends[0].get_lines(),
            strict=True,
        )
    }
    assert legend == drawn_as
    assert [*legend] == [
        f"{tmp_path}/a, training",
        f"{tmp_path}/a, dev set",
        "the second, training",
        "the second, dev set",
    ]
    # A single point is seen too.
    assert {line.get_marker() for line in panels["f1"].lines} == {"."}
    # A value that is not finite is null in the file.
    (first, _) = panels["f1"].lines
    assert [*first.get_xdata()] == [10] and [*first.get_ydata()] == [1.0]


@pytest.mark.parametrize(
    ("axis", "end"), [("steps", 10), ("examples", 80), ("hours", 1.0)]
)
def test_phases_follow_each_other(tmp_path, monkeypatch, axis, end):
    drawn = draw(tmp_path, monkeypatch, axis=axis, consecutive=True)
    first, second = drawn.axes[1].lines
    assert first.get_xdata()[-1] == end
    own = 0.05 if axis == "hours" else end / 10
    assert second.get_xdata()[0] == pytest.approx(end + own)
