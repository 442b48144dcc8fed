"""Reads the page of right and wrong predictions, as a browser would.

For example:

    page = ReportPage((run / "report.html").read_text("utf-8"))
"""

import html.parser


class ReportPage(html.parser.HTMLParser):
    """Reads a page.

    Attributes:
        rows: cells of each row of the table.
        names: names of the examples.
        text: all text of the page, without its style.
        headings: title and headings of the page.
        wrong, right: (verdict, text) of each example. The text is a list of
            (classes of its mark, piece).
    """

    def __init__(self, page):
        super().__init__()
        self.open, self.rows, self.wrong, self.right = [], [], [], []
        self.names, self.headings, self.text = [], [], ""
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        # Nothing is fetched from elsewhere, and nothing runs.
        assert not {"src", "href", "onclick"} & dict(attributes).keys()
        assert tag != "script"
        if tag in ("meta", "br"):
            return
        self.open.append((tag, dict(attributes).get("class", "").strip()))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, text):
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
