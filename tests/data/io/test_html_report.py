"""The page of the error reports."""

import re

from data.io import html_report
from tests.contrast import contrast
from tests.data import report_page


def write(path, title, *args):
    html_report.write(path, title, *args)
    return path.read_text()


def test_the_darkest_cell_can_be_read(tmp_path):
    table = {"header": ["", "a"], "rows": [["b", 7]], "shades": [[1.0]]}
    section = {"title": "Section", "table": table}
    page = write(tmp_path / "page.html", "Title", [], [section])
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


def test_long_sections_are_cut(tmp_path):
    section = {"title": "Wrong", "entries": [{"lines": ["x"]}] * 1200}
    text = write(tmp_path / "page.html", "Title", [], [section])
    page = report_page.ReportPage(text)
    assert len(page.details) == 1000
    assert "Wrong (1000 of 1200 are shown)" in page.text


def test_any_text_is_escaped(tmp_path):
    hostile = "</title></style><script>x</script>&{{ 1 + 1 }}\"'"
    texts = [hostile, [html_report.Span(hostile, "right", hostile), hostile]]
    table = {"header": [hostile], "rows": [[hostile, 0.25]]}
    section = {
        "title": hostile,
        "paragraphs": texts,
        "chart": {"points": [(0.5, 0.5, 3.0)], "low": 0.0, "high": 1.0}
        | {"x_title": hostile, "y_title": hostile},
        "table": table,
        "entries": [
            {"headings": [hostile], "lines": [hostile], "paragraphs": texts[1:]}
            | {"table": table}
        ],
    }
    text = write(tmp_path / "page.html", hostile, [hostile], [section])
    page = report_page.ReportPage(text)
    # In the title, the heading and so on, but not in the chart's label.
    assert text.startswith("<!DOCTYPE html>")
    assert page.text.count(hostile) == 19
    assert hostile not in text
    assert [["0.25"]] == [row[1:] for row in page.tables[0][1:]]
