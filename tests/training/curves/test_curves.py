"""Curves of runs: which points are drawn, and the files they are drawn to."""

import html.parser
import io
import json
import re

import pytest

from tests import script_runner
from training.curves import image, page, series

NAME = 'fast & <b>"bold"</b>'


def write_run(folder, num_steps=10, accuracy=0.4):
    folder.mkdir(parents=True)
    lines = []
    for step in range(1, num_steps + 1):
        line = {
            "step": step,
            "hours": step / 4,
            "examples": 32 * step,
            "learning_rate": 1e-3 / step,
        }
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
    return series.read_runs([("", one), (NAME, two)])


def test_panels_hold_the_points_of_the_histories(runs):
    panels = series.create_panels(runs, "hours")
    assert [panel.metric for panel in panels] == [
        "loss",
        "accuracy",
        "learning_rate",
    ]
    loss, accuracy, rate = (panel.series for panel in panels)
    assert [(line.run, line.kind) for line in loss] == [
        (0, "train"),
        (0, "eval"),
        (1, "train"),
        (1, "eval"),
    ]
    assert loss[0].points == [(n / 4, 10.0 / n) for n in range(1, 11)]
    assert loss[1].points == [(1.25, 2.2), (2.5, 1.1)]
    assert [line.points for line in accuracy] == [
        [(1.25, 2.0), (2.5, 4.0)],
        [(1.25, 0.5)],
    ]
    assert rate[1].points == [(n / 4, 1e-3 / n) for n in range(1, 6)]
    assert series.best("loss", loss[1].points) == (2.5, 1.1)
    assert series.best("accuracy", accuracy[0].points) == (2.5, 4.0)
    (norm,) = series.create_panels(runs, "steps", ["gradient_norm"])
    assert norm.series[0].points[2] == (3.0, 1.0)
    with pytest.raises(ValueError, match="--metrics: no run has f1; they have"):
        series.create_panels(runs, "steps", ["f1"])
    with pytest.raises(ValueError, match="--metrics= names none; the runs hav"):
        series.create_panels(runs, "steps", [])


@pytest.mark.parametrize(
    ("axis", "end"), [("steps", 10), ("examples", 320), ("hours", 2.5)]
)
def test_phases_become_one_curve(runs, axis, end):
    """Each run begins where the one before ended; the first stays."""
    apart = series.create_panels(runs, axis)
    joined = series.create_panels(series.join_ends([*runs, runs[1]]), axis)
    for panel, one in zip(apart, joined, strict=True):
        two = [line for line in one.series if line.run == 1]
        three = [line for line in one.series if line.run == 2]
        for line, again, third in zip(
            panel.series[-len(two) :], two, three, strict=True
        ):
            assert again.points == [(x + end, y) for x, y in line.points]
            assert third.points == [(x + 1.5 * end, y) for x, y in line.points]
        first = [line for line in panel.series if line.run == 0]
        assert [line for line in one.series if line.run == 0] == first


def test_many_points_are_averaged(tmp_path):
    runs = series.read_runs([("", write_run(tmp_path / "long", 1000))])
    (loss,) = series.create_panels(runs, "steps", ["loss"])
    trained, evaluated = loss.series
    # Three at a time, so that at most 400 are left.
    assert len(trained.points) == 334
    mean = sum(10.0 / n for n in (4, 5, 6)) / 3
    assert trained.points[1] == (5.0, pytest.approx(mean))
    assert len(evaluated.points) == 200


def test_a_folder_of_several_runs_means_all_of_them(tmp_path):
    for number in (1, 2, 10):
        write_run(tmp_path / "all" / f"run_{number}")
    found = series.read_runs([("", tmp_path / "all")])
    names = [run.name for run in found]
    assert names == ["all/run_1", "all/run_2", "all/run_10"]
    twice = [("", tmp_path / "all")] * 2
    with pytest.raises(ValueError, match="two of --runs are called all/run_1"):
        series.read_runs(twice)
    with pytest.raises(FileNotFoundError, match="has no history.jsonl"):
        series.read_runs([("", tmp_path)])


class Tags(html.parser.HTMLParser):
    """Checks that tags match, and collects the text and attributes."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.attributes, self.tags = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_is_whole_and_escaped(runs):
    panels = {axis: series.create_panels(runs, axis) for axis in series.AXES}
    text = page.create_page(runs, panels, "hours", "A < B")
    found = Tags(text)
    assert NAME in found.text and "A < B" in found.text
    # Nothing is run, and nothing is fetched.
    assert not {"script", "link", "img", "b", "iframe"} & set(found.tags)
    assert not re.search(r"https?:|url\(|@import", text)
    assert not {"src", "href"} & {name for name, _ in found.attributes}
    assert "prefers-color-scheme: dark" in text
    assert 'id="hours" checked' in text
    assert found.tags.count("svg") == 2 + 3 * 3
    assert f"{NAME}: 0.5 at 1.25 hours" in found.text
    for coordinate in re.findall(r'c[xy]="([^"]*)"', text):
        assert 0 <= float(coordinate) <= 480


def test_each_axis_has_its_own_table(runs):
    panels = {axis: series.create_panels(runs, axis) for axis in series.AXES}
    text = page.create_page(runs, panels, "hours")
    # The best loss and accuracy, where they were, and the last ones.
    for axis, place in (("steps", "10"), ("examples", "320"), ("hours", "2.5")):
        section = text[text.index(f'<section class="axis {axis}">') :]
        section = section.split("</section>")[0]
        assert section.count(f"<th>at {axis}</th>") == 2
        row = section[section.index("<tr><td>one") :].split("</tr>")[0]
        cells = re.findall("<td>(.*?)</td>", row)
        assert cells == ["one", "1.1", place, "1.1", "4", place, "4"]


@pytest.mark.parametrize(
    "low, high, expected",
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0.13, 0.38, [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4]),
        (-3e6, 2e6, [-3e6, -2e6, -1e6, 0, 1e6, 2e6]),
        (7, 7, None),
        (0, 0, None),
        (1e-9, 1e-9, None),
    ],
)
def test_ticks_are_round(low, high, expected):
    found = page.ticks(low, high)
    assert found[0] <= low and found[-1] >= high
    assert 3 <= len(found) <= 9
    assert expected is None or found == pytest.approx(expected)


def test_the_script_writes_the_page(tmp_path):
    write_run(tmp_path / "one")
    before = (tmp_path / "one" / "history.jsonl").read_bytes()
    for number in (1, 2):
        write_run(tmp_path / f"repeated/run_{number}")
    done, joined, repeated, nothing, unknown, *same = script_runner.run_all(
        [
            ("plot_runs.py", tmp_path, {"runs": "a=one", **more})
            for more in (
                {"html": "new/c.html"},
                {"runs": "a=one,b=one", "consecutive": True, "html": "j.html"},
                {"runs": "repeated", "consecutive": True, "html": "r.html"},
                {},
                {"metrics": "f1", "html": "x.html"},
                {"html": "one/history.jsonl"},
                {"runs": "b=one", "png": "one/history.jsonl"},
            )
        ]
    )
    done.check()
    assert "<svg" in (tmp_path / "new" / "c.html").read_text()
    joined.check()
    assert "<td>20</td>" in (tmp_path / "j.html").read_text()
    assert "--consecutive: repeated/run_1 is one of several" in repeated.error
    assert "give --html or --png" in nothing.error
    assert "no run has f1" in unknown.error
    for one in same:
        assert "one/history.jsonl) are the same" in one.error
    assert (tmp_path / "one" / "history.jsonl").read_bytes() == before


def test_the_script_draws_an_image(tmp_path):
    pytest.importorskip("matplotlib", reason="needs requirements/plot.txt")
    write_run(tmp_path / "one")
    for axis in series.AXES:
        script_runner.run(
            "plot_runs.py",
            tmp_path,
            runs="one",
            png=f"new/{axis}.png",
            axis=axis,
            title="One run",
        ).check()
    drawn = {path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert len(drawn) == len(series.AXES) == 3
    assert all(one.startswith(b"\x89PNG\r\n") for one in drawn)


def test_the_image(runs):
    pytest.importorskip("matplotlib", reason="needs requirements/plot.txt")
    drawn = image.create_png(runs, series.create_panels(runs, "steps"), "steps")
    assert drawn.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(drawn[16:20], "big") > 1000


def test_the_image_says_what_it_shows(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="needs requirements/plot.txt")
    from matplotlib import figure, text

    drawn = []
    monkeypatch.setattr(
        figure.Figure, "savefig", lambda self, *_, **__: drawn.append(self)
    )
    folder = write_run(tmp_path / "run")
    runs = series.read_runs([(f"run{i}", folder) for i in range(20)])
    panels = series.create_panels(runs, "steps")
    image.create_png(runs, panels, "steps", "costs $5 and $6")
    found = {one.get_text() for one in drawn[0].findobj(text.Text)}
    assert r"costs \$5 and \$6" in found
    (legend,) = drawn[0].legends
    names = [one.get_text() for one in legend.get_texts()]
    assert names == [*(run.name for run in runs), "training", "evaluation"]
    *lines, trained, evaluated = legend.get_lines()
    assert trained.get_linewidth() < evaluated.get_linewidth()
    assert (trained.get_marker(), evaluated.get_marker()) == ("None", ".")
    # Runs beyond the colours differ in their dashes.
    styles = {(line.get_color(), line.get_linestyle()) for line in lines}
    assert len(styles) == len(runs)


def test_the_image_has_no_panel_without_a_curve(runs):
    pytest.importorskip("matplotlib", reason="needs requirements/plot.txt")
    from matplotlib import image as images

    panels = series.create_panels(runs, "steps")[:3]
    drawn = images.imread(io.BytesIO(image.create_png(runs, panels, "steps")))
    height, width, _ = drawn.shape
    assert (drawn[: height // 2, width // 2 :] < 1).any()
    assert (drawn[height // 2 + 20 :, width // 2 + 20 :] == 1).all()
