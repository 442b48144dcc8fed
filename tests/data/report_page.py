"""A report as a browser would read it."""

import html.parser

_EMPTY = ("br", "meta", "circle", "path")


class ReportPage(html.parser.HTMLParser):
    """Collects the text, the tables, the unfolding entries and the spans.

    Attributes:
        text: all of it, with tags left out.
        tables: the cells of each.
        details: the texts in each entry.
        spans: (class, text) of each entry's colored spans.
        pieces: (innermost class or tag, text) of all that an entry has.
    """

    def __init__(self, page):
        super().__init__()
        self.open, self.text, self.tables = [], "", []
        self.details, self.spans, self.pieces = [], [], []
        self.num_circles = 0
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        # Nothing is fetched from elsewhere, and nothing runs.
        assert not {"src", "href", "onclick"} & dict(attributes).keys()
        assert tag not in ("script", "b>", "i")
        self.num_circles += tag == "circle"
        if tag in _EMPTY:
            return
        self.open.append((tag, dict(attributes).get("class")))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "details":
            self.details.append([])
            self.spans.append([])
            self.pieces.append([])

    def handle_endtag(self, tag):
        if tag not in _EMPTY:
            assert self.open.pop()[0] == tag

    def handle_data(self, text):
        tags = [tag for tag, _ in self.open]
        if "style" not in tags:
            self.text += text
        if tags and tags[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += text
        elif "details" in tags and text.strip():
            self.details[-1].append(text.strip())
            tag, css = self.open[-1]
            self.pieces[-1].append((css or tag, text))
        for tag, css in self.open[::-1]:
            if tag == "span" and "details" in tags:
                self.spans[-1].append((css, text.strip()))
                break
