"""The page of the error reports."""

import re

from data.io import html_report
from tests.contrast import contrast
from tests.data import report_page


def test_the_darkest_cell_can_be_read(tmp_path):
    path = tmp_path / "page.html"
    table = html_report.Table(["", "a"], [["b", 7]], [[1.0]])
    html_report.write(
        path, "Title", [], [html_report.Section("Section", table=table)]
    )
    page = path.read_text()
    share = int(re.search(r'style="--share: (\d+)%"', page)[1]) / 100
    accents = [
        [int(code[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        for code in re.findall("--accent: #([0-9a-f]{6})", page)
    ]
    # A browser's text and background, in light and in dark mode.
    modes = [(0.0, 1.0), (1.0, 0x12 / 255)]
    for accent, (text, back) in zip(accents, modes, strict=True):
        cell = [share * value + (1 - share) * back for value in accent]
        assert contrast(cell, [text] * 3) >= 4.5


def test_any_text_is_escaped(tmp_path):
    hostile = "</title></style><script>x</script>&{{ 1 + 1 }}\"'"
    part = html_report.Span(hostile, "right", hostile)
    table = html_report.Table([hostile], [[hostile, 0.25]])
    entry = html_report.Entry([hostile], [hostile], [[part, hostile]], table)
    section = html_report.Section(
        *(hostile, [hostile, [part, hostile]]),
        html_report.Chart([(0.5, 0.5, 3.0)], 0.0, 1.0, hostile, hostile),
        *(table, [entry]),
    )
    path = tmp_path / "page.html"
    html_report.write(path, hostile, [hostile], [section])
    page = report_page.ReportPage(path.read_text())
    # In the title, the heading and so on, but not in the chart's label.
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert page.text.count(hostile) == 19
    assert hostile not in path.read_text()
    assert [["0.25"]] == [row[1:] for row in page.tables[0][1:]]
