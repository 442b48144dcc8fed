"""Progress on a terminal."""

import sys

import pytest

from terminal import progress


def test_progress_on_a_terminal_rewrites_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "BAR_INTERVAL", 0.0)
    assert [*progress.track("ab", 2)] == [*"ab"]
    errors = capsys.readouterr().err
    assert "\r\033[Krecord 2 of 2" in errors
    assert errors.count("\n") == 1


def test_a_line_of_progress_shows_values_and_a_rate(caplog):
    caplog.set_level("INFO", logger="absl")
    assert [*progress.track("ab", 2)] == [*"ab"]
    assert not caplog.messages
    with progress.Progress(
        8, initial=4, examples_per_unit=16, description="Training", epochs=2.5
    ) as bar:
        bar.update(5, loss=1.23456)
    assert "Training step 5 of 8  epoch 2 of 3  loss 1.235  " in caplog.text


def test_the_rate_is_of_examples_by_their_name(caplog):
    caplog.set_level("INFO", logger="absl")
    with progress.Progress(
        2, unit="row", examples_per_unit=1, examples_name="rows"
    ) as bar:
        bar.update(1)
    assert "row 1 of 2  rows/s " in caplog.text


@pytest.mark.parametrize(("shows_ends", "due"), [(True, [1, 3]), (False, [])])
def test_progress_of_short_work_is_shown_at_its_ends_or_never(shows_ends, due):
    shown = []
    with progress.Progress(3, shows_ends=shows_ends) as bar:
        for done in (1, 2, 3):
            if bar.is_due(done):
                bar.update(done)
                shown.append(done)
    assert shown == due
