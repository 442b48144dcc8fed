"""Reads the page of right and wrong predictions, as a browser would.

For example:

    page = ReportPage((run / "report.html").read_text("utf-8"))
"""

import html.parser
from typing import TypeAlias

# (verdict, text), the text as a list of (classes of its mark, piece).
Example: TypeAlias = tuple[str, list[tuple[str, str]]]


class ReportPage(html.parser.HTMLParser):
    """Reads a page.

    Attributes:
        rows: cells of each row of the table.
        names: names of the examples.
        text: all text of the page, without its style.
        headings: title and headings of the page.
        wrong, right: each Example.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        # (tag, class) of each element that is not closed yet.
        self.open: list[tuple[str, str]] = []
        self.rows: list[list[str]] = []
        self.wrong: list[Example] = []
        self.right: list[Example] = []
        # The examples below the last heading.
        self.part: list[Example] = []
        self.names: list[str] = []
        self.headings: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        # Nothing is fetched from elsewhere, and nothing runs.
        assert not {"src", "href", "onclick"} & dict(attributes).keys()
        assert tag != "script"
        if tag in ("meta", "br"):
            return
        self.open.append((tag, (dict(attributes).get("class") or "").strip()))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, text: str) -> None:
        tags = [tag for tag, _ in self.open]
        if "style" not in tags:
            self.text += text
        if tags[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += text
        elif tags[-1:] == ["b"]:
            self.part.append((text, []))
        elif tags[-1:] in (["h1"], ["h2"]):
            self.headings.append(text)
            self.part = self.wrong if "Wrong" in text else self.right
        elif tags[-1:] == ["small"]:
            self.names.append(text)
        elif tags[-1:] == ["mark"] and "details" in tags:
            self.part[-1][1].append((self.open[-1][1], text))
