"""Progress on a terminal."""

import sys

from files import progress


def test_one_line_changes_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert [*progress.track("ab", 2)] == [*"ab"]
    shown = capsys.readouterr().err
    assert "\r\033[Krecord 2 of 2" in shown and shown.count("\n") == 1
