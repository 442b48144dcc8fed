"""Progress where there is no terminal: lines in plain words."""

import logging
import sys

import pytest

from files import progress


@pytest.fixture(autouse=True)
def show_each_line(caplog, monkeypatch):
    monkeypatch.setattr(progress, "LINE_INTERVAL", 0.0)
    caplog.set_level(logging.INFO)


def test_what_is_done_of_how_much(caplog):
    assert [*progress.track("abc", 3, "batch", "Evaluating")] == [*"abc"]
    assert [line.split("  ")[0] for line in caplog.messages] == [
        "Evaluating batch 1 of 3",
        "Evaluating batch 2 of 3",
        "Evaluating batch 3 of 3",
    ]
    assert caplog.messages[1].endswith(" left")


def test_one_line_changes_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert [*progress.track("ab", 2)] == [*"ab"]
    shown = capsys.readouterr().err
    assert "\r\033[Krecord 2 of 2" in shown and shown.count("\n") == 1


def test_values_and_a_rate(caplog):
    with progress.Progress(8, 4, "step", 16, "Training", 2.5) as bar:
        bar.update(5, loss=1.23456)
    (line,) = caplog.messages
    assert line.startswith("Training step 5 of 8  epoch 2 of 3  loss 1.235  ")
