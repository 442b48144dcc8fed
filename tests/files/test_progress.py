"""Progress where there is no terminal: lines in plain words."""

import logging

import pytest

from files import progress


@pytest.fixture
def lines(caplog, monkeypatch):
    monkeypatch.setattr(progress, "LINE_INTERVAL", 0.0)
    caplog.set_level(logging.INFO)
    return lambda: caplog.messages


def test_what_is_done_of_how_much(lines):
    assert [*progress.track("abc", 3, "batch", "Evaluating")] == [*"abc"]
    assert [line.split("  ")[0] for line in lines()] == [
        "Evaluating batch 1 of 3",
        "Evaluating batch 2 of 3",
        "Evaluating batch 3 of 3",
    ]
    assert lines()[1].endswith(" left")


def test_one_element_is_no_progress(lines):
    assert [*progress.track("a", 1, "batch", "Showing")] == ["a"]
    assert lines() == []


def test_without_a_known_end(lines):
    assert [*progress.track("ab", None, "record", "Writing")] == [*"ab"]
    assert lines() == ["Writing record 1", "Writing record 2"]


def test_values_and_a_rate(lines):
    with progress.Progress(8, 4, "step", 16, "Training") as bar:
        bar.update(5, loss=1.23456)
    (line,) = lines()
    assert line.startswith("Training step 5 of 8  loss 1.235  examples/s ")
