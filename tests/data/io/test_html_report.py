"""The building blocks of the reports."""

import re

from data.io import html_report
from tests.contrast import contrast


def test_the_darkest_cell_can_be_read(tmp_path):
    path = tmp_path / "page.html"
    table = html_report.table(["", "a"], [["b", 7]], [[1.0]])
    html_report.write(path, "Title", [table])
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
